-- The days of each cluster, in UTC, with a past hour that has a snapshot that is not yet rolled up.
--
-- Parameters:
--   :before timestamptz  Only hours that ended before this time.
SELECT DISTINCT
    snapshot.cluster,
    date_bin('1 day', snapshot.started_at, '2000-01-01 00:00:00+00') AS day
FROM snapshot
WHERE
    snapshot.measured_at IS NOT NULL
    AND snapshot.rolled_up_at IS NULL
    AND date_bin('1 hour', snapshot.started_at, '2000-01-01 00:00:00+00')
    + interval '1 hour' <= CAST(:before AS timestamptz)
ORDER BY day, snapshot.cluster;
