-- The snapshots of a cluster that were advised on, of those begun in a span of time, the oldest first.
--
-- Parameters:
--   :cluster text       Configured name of the cluster.
--   :since timestamptz  From when on.
--   :until timestamptz  Before when.
SELECT snapshot_id
FROM snapshot
WHERE
    cluster = CAST(:cluster AS text)
    AND started_at >= CAST(:since AS timestamptz)
    AND started_at < CAST(:until AS timestamptz)
    AND advised_at IS NOT NULL
ORDER BY started_at, snapshot_id;
