-- How did the coming hour go yesterday and a week ago? One row per group of the newest snapshot of each cluster, by
-- the lag of the same hour: the hour after the newest snapshot, 24 and 168 hours earlier. Forecasts know only the last
-- hour, so compare them with these values if traffic follows a clock. Lag is in offsets. Null is unknown, or without
-- snapshots of that hour.
--
-- Parameters:
--   :cluster text = null  Configured name of the cluster; null for all clusters.
--   :group text = null    Consumer group; null for all groups.
--
-- Columns as in: group_metrics, candidate.
-- Its own columns:
--   taken_at timestamptz                              Start of the newest snapshot.
--   yesterday_highest_lag bigint (offsets)            Maximum lag in the same hour of yesterday.
--   yesterday_production_per_second double precision  Mean incoming rate in the same hour of yesterday.
--   last_week_highest_lag bigint (offsets)            Maximum lag in the same hour a week ago.
--   last_week_production_per_second double precision  Mean incoming rate in the same hour a week ago.
SELECT
    newest.cluster,
    newest.group_id,
    newest.taken_at,
    newest.total_lag,
    newest.production_per_second,
    ahead.forecast_lag_low,
    ahead.forecast_lag_expected,
    ahead.forecast_lag_high,
    yesterday.highest_lag AS yesterday_highest_lag,
    yesterday.production_per_second AS yesterday_production_per_second,
    last_week.highest_lag AS last_week_highest_lag,
    last_week.production_per_second AS last_week_production_per_second
FROM latest_lag AS newest
LEFT JOIN lag_history AS ahead
    ON ahead.cluster = newest.cluster AND ahead.group_id = newest.group_id AND ahead.taken_at = newest.taken_at
LEFT JOIN LATERAL (
    SELECT
        max(history.total_lag) AS highest_lag,
        avg(history.production_per_second) AS production_per_second
    FROM lag_history AS history
    WHERE
        history.cluster = newest.cluster
        AND history.group_id = newest.group_id
        AND history.taken_at > newest.taken_at - interval '24 hours'
        AND history.taken_at <= newest.taken_at - interval '23 hours'
) AS yesterday ON TRUE
LEFT JOIN LATERAL (
    SELECT
        max(history.total_lag) AS highest_lag,
        avg(history.production_per_second) AS production_per_second
    FROM lag_history AS history
    WHERE
        history.cluster = newest.cluster
        AND history.group_id = newest.group_id
        AND history.taken_at > newest.taken_at - interval '168 hours'
        AND history.taken_at <= newest.taken_at - interval '167 hours'
) AS last_week ON TRUE
WHERE
    (CAST(:cluster AS text) IS NULL OR newest.cluster = CAST(:cluster AS text))
    AND (CAST(:group AS text) IS NULL OR newest.group_id = CAST(:group AS text))
ORDER BY yesterday.highest_lag DESC NULLS LAST, newest.cluster, newest.group_id;
