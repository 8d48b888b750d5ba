-- Holds a snapshot and its cluster until the transaction ends, so that of two writers one waits; the cluster first, for who
-- has that may write all of its snapshots. No row: there is no such snapshot.
--
-- Parameters:
--   :snapshot_id text  The snapshot.
SELECT cluster.cluster FROM cluster
WHERE cluster.cluster = (SELECT snapshot.cluster FROM snapshot WHERE snapshot.snapshot_id = :snapshot_id)
FOR UPDATE;

SELECT
    snapshot.cluster,
    snapshot.started_at,
    snapshot.advised_at IS NOT NULL AS advised
FROM snapshot
WHERE snapshot.snapshot_id = :snapshot_id
FOR UPDATE;
