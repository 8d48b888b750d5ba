-- Creates the table for the samples of a snapshot's day, if it doesn't exist.
--
-- Parameters:
--   :snapshot_id text  Id of the snapshot.
SELECT make_sample_day(started_at) FROM snapshot
WHERE snapshot_id = :snapshot_id;
