-- How would a strategy, such as `lag-aware`, have performed in a past period? One row per group with a score in the
-- period, largest lag reduction first, including days whose snapshots are deleted. Compares the strategy with the
-- assignment that the group had (`live_`) over the same days or hours. Medians are over days with equal weight; worst
-- is the maximum of all snapshots. Null is unknown, except for `forecast_lag` (lag in one hour): null if there was no
-- forecast, because the group was healthy. `won_snapshots` counts snapshots in which it was the best deployable
-- strategy, `switch_snapshots` those with the advice to switch to it.
--
-- Parameters:
--   :strategy text              Name of the strategy.
--   :pattern text = null        SQL pattern (LIKE) of group ids; null for all groups.
--   :cluster text = null        Configured name of the cluster; null for all clusters.
--   :since timestamptz = null   Start of the period; null for the first stored day.
--   :until timestamptz = null   End of the period (exclusive); null for now.
--   :per text = day             Unit of the medians: day or hour.
--
-- Columns as in: strategy_history.
-- Its own columns:
--   days bigint                               Number of days (or hours) with a score.
--   snapshots bigint                          Number of snapshots with a score.
--   runnable_snapshots bigint                 Number of those in which it could be deployed on the group.
--   won_snapshots bigint                      Number of snapshots in which it was the best deployable strategy.
--   switch_snapshots bigint                   Number of those with the advice to switch to it.
--   live_member_lag bigint                    Median of the largest member lag with the assignment that the group had.
--   member_lag bigint                         The same with the strategy.
--   live_worst_member_lag bigint              Maximum of the largest member lag with the assignment that the group had.
--   worst_member_lag bigint                   The same with the strategy.
--   live_forecast_lag real = none             Median of the lag forecast for one hour ahead with the assignment that the group had.
--   forecast_lag real = none                  The same with the strategy.
--   live_worst_forecast_lag real = none       Maximum of the lag forecast with the assignment that the group had.
--   worst_forecast_lag real = none            The same with the strategy.
--   live_cross_rack_share real                Median cross-rack share with the assignment that the group had.
--   cross_rack_share real                     The same with the strategy.
--   live_cross_rack_bytes_per_second double precision  Mean cross-rack bytes per second with the assignment that the group had.
--   cross_rack_bytes_per_second double precision       The same with the strategy.
--   moves integer                             Median number of partitions that it would have moved.
--   worst_moves integer                       Maximum number of partitions that it would have moved.
--   first_at timestamptz                      Start of the first of these days (or hours).
--   last_at timestamptz                       Start of the last of these days (or hours).
WITH kept AS MATERIALIZED (
    SELECT * FROM strategy_history
    WHERE
        per = CAST(:per AS text)
        AND strategy IN ('live', CAST(:strategy AS text))
        AND (CAST(:pattern AS text) IS NULL OR group_id LIKE CAST(:pattern AS text))
        AND (CAST(:cluster AS text) IS NULL OR cluster = CAST(:cluster AS text))
        AND (CAST(:since AS timestamptz) IS NULL OR since >= CAST(:since AS timestamptz))
        AND (CAST(:until AS timestamptz) IS NULL OR since < CAST(:until AS timestamptz))
)

SELECT
    own.cluster,
    own.group_id,
    own.strategy,
    (percentile_disc(0.5) WITHIN GROUP (ORDER BY live.median_member_lag))::bigint AS live_member_lag,
    (percentile_disc(0.5) WITHIN GROUP (ORDER BY own.median_member_lag))::bigint AS member_lag,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY live.median_forecast_lag) AS live_forecast_lag,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY own.median_forecast_lag) AS forecast_lag,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY own.median_moves) AS moves,
    sum(own.won_snapshots)::bigint AS won_snapshots,
    sum(own.switch_snapshots)::bigint AS switch_snapshots,
    count(*) AS days,
    sum(own.snapshots)::bigint AS snapshots,
    sum(own.runnable_snapshots)::bigint AS runnable_snapshots,
    max(live.worst_member_lag)::bigint AS live_worst_member_lag,
    max(own.worst_member_lag)::bigint AS worst_member_lag,
    max(live.worst_forecast_lag) AS live_worst_forecast_lag,
    max(own.worst_forecast_lag) AS worst_forecast_lag,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY live.median_cross_rack_share) AS live_cross_rack_share,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY own.median_cross_rack_share) AS cross_rack_share,
    avg(live.cross_rack_bytes_per_second) AS live_cross_rack_bytes_per_second,
    avg(own.cross_rack_bytes_per_second) AS cross_rack_bytes_per_second,
    max(own.worst_moves) AS worst_moves,
    min(own.since) AS first_at,
    max(own.since) AS last_at
FROM kept AS own
INNER JOIN kept AS live
    ON live.cluster = own.cluster AND live.group_id = own.group_id AND live.since = own.since
WHERE own.strategy = CAST(:strategy AS text) AND live.strategy = 'live'
GROUP BY own.cluster, own.group_id, own.strategy
ORDER BY
    coalesce(sum(live.median_forecast_lag - own.median_forecast_lag), 0) DESC,
    coalesce(sum(live.median_member_lag - own.median_member_lag), 0) DESC,
    own.cluster,
    own.group_id;
