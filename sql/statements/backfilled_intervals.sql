-- The commit intervals that a backfill learned of groups, as of the snapshot that was taken at a moment: one row per group.
--
-- Parameters:
--   :backfill_id bigint     The backfill.
--   :taken_at timestamptz   When that snapshot was taken.
SELECT
    group_id,
    commit_interval_seconds
FROM backfilled_group
WHERE backfill_id = :backfill_id AND taken_at = CAST(:taken_at AS timestamptz);
