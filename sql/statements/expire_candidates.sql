-- Deletes old figures of strategies: samples that are rolled up, hours, and days.
--
-- Parameters:
--   :samples timestamptz  Samples of hours that ended before this time are deleted.
--   :hours timestamptz    Hours that began before this time are deleted.
--   :days timestamptz     Days that began before this time are deleted.
DELETE FROM candidate_sample USING snapshot
WHERE
    snapshot.snapshot_id = candidate_sample.snapshot_id
    AND snapshot.rolled_up_at IS NOT NULL
    AND date_bin('1 hour', snapshot.started_at, '2000-01-01 00:00:00+00') + interval '1 hour'
    <= CAST(:samples AS timestamptz)
    -- an hour with a sample that is not rolled up is computed again from all samples
    AND NOT EXISTS (
        SELECT FROM snapshot AS fresh
        WHERE
            fresh.cluster = snapshot.cluster
            AND fresh.measured_at IS NOT NULL
            AND fresh.rolled_up_at IS NULL
            AND date_bin('1 hour', fresh.started_at, '2000-01-01 00:00:00+00')
            = date_bin('1 hour', snapshot.started_at, '2000-01-01 00:00:00+00')
    );

DELETE FROM candidate_hour
WHERE since < CAST(:hours AS timestamptz);

DELETE FROM candidate_day
WHERE since < CAST(:days AS timestamptz);
