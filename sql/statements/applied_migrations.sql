-- One row per migration that was applied, in order.
SELECT
    name,
    sha256
FROM schema_migrations
ORDER BY name;
