-- Puts the staged member metrics in place of those of an earlier try.
--
-- Parameters:
--   :snapshot_id text  The snapshot.
DELETE FROM member_metrics
WHERE snapshot_id = :snapshot_id;

INSERT INTO member_metrics
SELECT * FROM staged_member_metrics;
