-- Removes the validation rows of one stage that an earlier try left.
--
-- Parameters:
--   :snapshot_id text  The snapshot.
--   :stage text        "snapshot", "metrics" or "candidates".
DELETE FROM validation
WHERE snapshot_id = :snapshot_id AND stage = :stage;
