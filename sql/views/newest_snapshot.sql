-- One row per cluster: its newest snapshot at each step of the pipeline. Other views start here, so that they stay
-- complete while a newer snapshot is processed.
--
-- Columns:
--   cluster text   Configured name of the cluster.
--   taken text     Id of its newest snapshot.
--   measured text  Id of its newest snapshot with metrics.
--   proposed text  Id of its newest snapshot with candidates.
--   advised text   Id of its newest snapshot with advice.
CREATE OR REPLACE VIEW newest_snapshot AS
SELECT
    cluster.cluster,
    (
        SELECT snapshot_id FROM snapshot
        WHERE snapshot.cluster = cluster.cluster
        ORDER BY started_at DESC, snapshot_id DESC LIMIT 1
    ) AS taken,      -- the newest one
    (
        SELECT snapshot_id FROM snapshot
        WHERE snapshot.cluster = cluster.cluster AND measured_at IS NOT NULL
        ORDER BY started_at DESC, snapshot_id DESC LIMIT 1
    ) AS measured,   -- the newest one with metrics
    (
        SELECT snapshot_id FROM snapshot
        WHERE snapshot.cluster = cluster.cluster AND proposed_at IS NOT NULL
        ORDER BY started_at DESC, snapshot_id DESC LIMIT 1
    ) AS proposed,   -- the newest one with candidates
    (
        SELECT snapshot_id FROM snapshot
        WHERE snapshot.cluster = cluster.cluster AND advised_at IS NOT NULL
        ORDER BY started_at DESC, snapshot_id DESC LIMIT 1
    ) AS advised     -- the newest one with advice
FROM cluster;
