-- Holds a snapshot and its cluster until the transaction ends, so that of two writers one waits. No row: there is no
-- such snapshot.
--
-- Parameters:
--   :snapshot_id text  The snapshot.
SELECT
    snapshot.snapshot_id,
    snapshot.advised_at IS NOT NULL AS advised
FROM snapshot
INNER JOIN cluster ON cluster.cluster = snapshot.cluster
WHERE snapshot.snapshot_id = :snapshot_id
FOR UPDATE;
