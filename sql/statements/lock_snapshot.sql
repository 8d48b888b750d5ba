-- Locks a snapshot and its cluster until the transaction ends, so that writers wait for each other. The cluster is
-- locked first, because its holder may write all of its snapshots. No row if the snapshot doesn't exist.
--
-- Parameters:
--   :snapshot_id text  Id of the snapshot.
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
