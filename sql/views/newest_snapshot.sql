-- One row per cluster: its newest snapshot at each step of the pipeline. Other views start here, so that they stay
-- complete while a newer snapshot is processed. A snapshot from the future, by a clock that was ahead, is not the newest.
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
        WHERE snapshot.cluster = cluster.cluster AND started_at <= known.until
        ORDER BY started_at DESC, snapshot_id DESC LIMIT 1
    ) AS taken,      -- the newest one
    (
        SELECT snapshot_id FROM snapshot
        WHERE snapshot.cluster = cluster.cluster AND started_at <= known.until AND measured_at IS NOT NULL
        ORDER BY started_at DESC, snapshot_id DESC LIMIT 1
    ) AS measured,   -- the newest one with metrics
    (
        SELECT snapshot_id FROM snapshot
        WHERE snapshot.cluster = cluster.cluster AND started_at <= known.until AND proposed_at IS NOT NULL
        ORDER BY started_at DESC, snapshot_id DESC LIMIT 1
    ) AS proposed,   -- the newest one with candidates
    (
        SELECT snapshot_id FROM snapshot
        WHERE snapshot.cluster = cluster.cluster AND started_at <= known.until AND advised_at IS NOT NULL
        ORDER BY started_at DESC, snapshot_id DESC LIMIT 1
    ) AS advised     -- the newest one with advice
FROM cluster
CROSS JOIN LATERAL (
    -- where all are from the future it is the clock of the database that is wrong
    SELECT CASE WHEN has_come(min(started_at)) THEN now() + interval '10 minutes' ELSE 'infinity' END AS until
    FROM snapshot
    WHERE snapshot.cluster = cluster.cluster
) AS known;
