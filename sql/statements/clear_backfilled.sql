-- Removes what an earlier run of a backfill made of some groups in the snapshots of a span of time.
--
-- Parameters:
--   :backfill_id bigint   The backfill.
--   :first timestamptz    When the first of the snapshots was taken.
--   :last timestamptz     When the last one was.
--   :groups_regex text    Regular expression of the groups.
DELETE FROM backfilled_candidate
WHERE
    backfill_id = :backfill_id
    AND taken_at BETWEEN CAST(:first AS timestamptz) AND CAST(:last AS timestamptz)
    AND group_id ~ CAST(:groups_regex AS text);

DELETE FROM backfilled_group
WHERE
    backfill_id = :backfill_id
    AND taken_at BETWEEN CAST(:first AS timestamptz) AND CAST(:last AS timestamptz)
    AND group_id ~ CAST(:groups_regex AS text);
