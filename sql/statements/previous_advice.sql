-- What each group was told before a snapshot: one row per group of the newest advised snapshot before it. A strategy that
-- won there and wins again has been seen once more.
--
-- Parameters:
--   :cluster text      Configured name of the cluster.
--   :snapshot_id text  The snapshot; it need not be in the history.
WITH before AS (
    SELECT snapshot_id
    FROM snapshot
    WHERE cluster = :cluster AND advised_at IS NOT NULL AND snapshot_id < CAST(:snapshot_id AS text) COLLATE "C"
    ORDER BY started_at DESC, snapshot_id DESC
    LIMIT 1
)

SELECT
    advice.group_id,
    advice.strategy,
    advice.seen,
    advice.course
FROM before
INNER JOIN advice ON advice.snapshot_id = before.snapshot_id
ORDER BY advice.group_id;
