-- Puts the staged group metrics in place of those of an earlier try.
--
-- Parameters:
--   :snapshot_id text  The snapshot.
DELETE FROM group_metrics
WHERE snapshot_id = :snapshot_id;

INSERT INTO group_metrics
SELECT * FROM staged_group_metrics;
