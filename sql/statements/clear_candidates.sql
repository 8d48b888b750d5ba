-- Removes the candidates that an earlier try left, and notes that the snapshot has its candidates.
--
-- Parameters:
--   :snapshot_id text  The snapshot.
DELETE FROM candidate
WHERE snapshot_id = :snapshot_id;

UPDATE snapshot SET
    proposed_at = coalesce(proposed_at, now()),
    thinned_at = NULL
WHERE snapshot_id = :snapshot_id;
