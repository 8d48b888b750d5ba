-- One row per cluster: how far its newest snapshots came. Every other view starts here, so that a snapshot
-- that is still being worked on never empties one.
--
-- Columns:
--   cluster text   Configured name of the cluster.
--   taken text     Its newest snapshot.
--   measured text  Its newest snapshot with metrics.
--   proposed text  Its newest snapshot with candidates.
--   advised text   Its newest snapshot with advice.
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
