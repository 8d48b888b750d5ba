-- Notes that a run which somebody started by hand works on a snapshot, so that no other run takes it up as well.
--
-- Parameters:
--   :snapshot_id text  The snapshot.
--   :run text          Id of the run.
UPDATE snapshot
SET
    taken_up_at = clock_timestamp(),
    taken_up_by = CAST(:run AS text)
WHERE snapshot_id = :snapshot_id AND advised_at IS NULL;
