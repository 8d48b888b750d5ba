-- The backfill of a cluster by a configuration and a version: one row, or none.
--
-- Parameters:
--   :cluster text           Configured name of the cluster.
--   :config_version text    Hash of the configuration.
--   :evenkeel_version text  Version of evenkeel.
SELECT *
FROM backfill
WHERE cluster = :cluster AND config_version = :config_version AND evenkeel_version = :evenkeel_version;
