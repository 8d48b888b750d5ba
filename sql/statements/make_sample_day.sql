-- Makes the table that keeps the samples of a snapshot's day, where there is none.
--
-- Parameters:
--   :snapshot_id text  The snapshot.
SELECT make_sample_day(started_at) FROM snapshot
WHERE snapshot_id = :snapshot_id;
