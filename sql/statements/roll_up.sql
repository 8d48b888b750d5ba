-- Computes the past hours of a cluster's day with snapshots that are not yet rolled up, and the day itself, for
-- groups and for candidates. Existing rows are replaced, and writers of the cluster wait. Returns the snapshots that
-- are rolled up now.
--
-- Parameters:
--   :cluster text        Configured name of the cluster.
--   :day timestamptz     Start of the day, in UTC.
--   :kept timestamptz    Hours that began before this time may have lost snapshots and are not computed again.
--   :before timestamptz  Only hours that ended before this time.
SELECT cluster.cluster FROM cluster
WHERE cluster.cluster = :cluster
FOR UPDATE;

UPDATE snapshot SET rolled_up_at = now()
WHERE
    snapshot.cluster = :cluster
    AND snapshot.measured_at IS NOT NULL
    AND snapshot.rolled_up_at IS NULL
    AND date_bin('1 hour', snapshot.started_at, '2000-01-01 00:00:00+00') >= CAST(:day AS timestamptz)
    AND date_bin('1 hour', snapshot.started_at, '2000-01-01 00:00:00+00')
    < CAST(:day AS timestamptz) + interval '24 hours'
    AND date_bin('1 hour', snapshot.started_at, '2000-01-01 00:00:00+00') < CAST(:kept AS timestamptz);

DELETE FROM group_hour
WHERE
    group_hour.cluster = :cluster
    AND group_hour.since >= CAST(:day AS timestamptz)
    AND group_hour.since < CAST(:day AS timestamptz) + interval '24 hours'
    AND group_hour.since + interval '1 hour' <= CAST(:before AS timestamptz)
    AND EXISTS (
        SELECT FROM snapshot
        WHERE
            snapshot.cluster = group_hour.cluster
            AND snapshot.measured_at IS NOT NULL
            AND snapshot.rolled_up_at IS NULL
            AND date_bin('1 hour', snapshot.started_at, '2000-01-01 00:00:00+00') = group_hour.since
    );

-- the views have the columns of the tables, in their order
INSERT INTO group_hour
SELECT open.* FROM group_hour_open AS open
WHERE
    open.cluster = :cluster
    AND open.since >= CAST(:day AS timestamptz)
    AND open.since < CAST(:day AS timestamptz) + interval '24 hours'
    AND open.since + interval '1 hour' <= CAST(:before AS timestamptz);

DELETE FROM group_day
WHERE
    group_day.cluster = :cluster
    AND group_day.since = CAST(:day AS timestamptz)
    -- as in group_day_open: a snapshot without groups also counts
    AND EXISTS (
        SELECT FROM snapshot
        WHERE
            snapshot.cluster = group_day.cluster
            AND snapshot.measured_at IS NOT NULL
            AND snapshot.rolled_up_at IS NULL
            AND date_bin('1 hour', snapshot.started_at, '2000-01-01 00:00:00+00') >= group_day.since
            AND date_bin('1 hour', snapshot.started_at, '2000-01-01 00:00:00+00')
            < group_day.since + interval '24 hours'
    );

INSERT INTO group_day
SELECT open.* FROM group_day_open AS open
WHERE open.cluster = :cluster AND open.since = CAST(:day AS timestamptz);

-- the day is computed first: an existing day without hours has lost them, and is kept
DELETE FROM candidate_day
WHERE
    candidate_day.cluster = :cluster
    AND candidate_day.since = CAST(:day AS timestamptz)
    AND EXISTS (
        SELECT FROM candidate_hour_fresh AS fresh
        WHERE
            fresh.cluster = :cluster
            AND date_bin('1 day', fresh.since, '2000-01-01 00:00:00+00') = CAST(:day AS timestamptz)
    );

DELETE FROM candidate_hour USING candidate_hour_fresh AS fresh
WHERE
    candidate_hour.cluster = :cluster
    AND fresh.cluster = :cluster
    AND candidate_hour.since = fresh.since
    AND fresh.since >= CAST(:day AS timestamptz)
    AND fresh.since < CAST(:day AS timestamptz) + interval '24 hours'
    AND fresh.since + interval '1 hour' <= CAST(:before AS timestamptz);

INSERT INTO candidate_hour
SELECT open.* FROM candidate_hour_open AS open
WHERE
    open.cluster = :cluster
    AND open.since >= CAST(:day AS timestamptz)
    AND open.since < CAST(:day AS timestamptz) + interval '24 hours'
    AND open.since + interval '1 hour' <= CAST(:before AS timestamptz);

INSERT INTO candidate_day
SELECT open.* FROM candidate_day_open AS open
WHERE open.cluster = :cluster AND open.since = CAST(:day AS timestamptz);

UPDATE snapshot SET rolled_up_at = now()
WHERE
    snapshot.cluster = :cluster
    AND snapshot.measured_at IS NOT NULL
    AND snapshot.rolled_up_at IS NULL
    AND date_bin('1 hour', snapshot.started_at, '2000-01-01 00:00:00+00') >= CAST(:day AS timestamptz)
    AND date_bin('1 hour', snapshot.started_at, '2000-01-01 00:00:00+00')
    < CAST(:day AS timestamptz) + interval '24 hours'
    AND date_bin('1 hour', snapshot.started_at, '2000-01-01 00:00:00+00') + interval '1 hour'
    <= CAST(:before AS timestamptz)
RETURNING snapshot.snapshot_id;
