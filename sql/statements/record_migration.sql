-- Notes that a migration was applied.
--
-- Parameters:
--   :name text    Its file name without .sql.
--   :sha256 text  Hash of the file.
INSERT INTO schema_migrations (name, sha256)
VALUES (:name, :sha256);
