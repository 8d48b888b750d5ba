-- Puts the staged candidates in place of those of an earlier try.
--
-- Parameters:
--   :snapshot_id text  The snapshot.
DELETE FROM candidate
WHERE snapshot_id = :snapshot_id;

INSERT INTO candidate
SELECT * FROM staged_candidates;

UPDATE snapshot SET proposed_at = coalesce(proposed_at, now())
WHERE snapshot_id = :snapshot_id;
