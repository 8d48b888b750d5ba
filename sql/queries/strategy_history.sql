-- What would a strategy have brought, say `lag-aware` in October? One row per group for which it had an answer in the period, also of
-- days whose snapshots are gone: by it and, beside that (`live_`), as the group was, over the same days (or hours). First come those whose lag would
-- have fallen most. Medians are over days, of which each counts alike; worst is the largest value of a snapshot. Null is
-- unknown; of `forecast_lag`, the lag to be expected an hour ahead, it says that nothing was forecast: the group kept up.
-- `won_snapshots`: after how many it was the best that the group could get, `switch_snapshots`: after how many of these the
-- group was advised to switch to it.
--
-- Parameters:
--   :strategy text              Our name of the strategy.
--   :pattern text = null        Groups whose name is LIKE this; null: every group.
--   :cluster text = null        Configured name of the cluster; null: every cluster.
--   :since timestamptz = null   Days that began then or later; null: from the first that is kept.
--   :until timestamptz = null   Days that began before; null: to the last.
--   :per text = day             day or hour: of which the medians are.
--
-- Columns as in: strategy_history.
-- Its own columns:
--   days bigint                               Number of days (or hours) in which it had an answer.
--   snapshots bigint                          Number of snapshots in which it had an answer.
--   runnable_snapshots bigint                 Number of those in which the group could run it, or could have been brought to it.
--   won_snapshots bigint                      After how many it was the best that the group could get.
--   switch_snapshots bigint                   After how many of these the group was advised to switch to it.
--   live_member_lag bigint                    Median largest lag of a member as the group was.
--   member_lag bigint                         By the strategy.
--   live_worst_member_lag bigint              The largest as the group was.
--   worst_member_lag bigint                   By the strategy.
--   live_forecast_lag real = none             Median lag to be expected an hour ahead as the group was.
--   forecast_lag real = none                  By the strategy.
--   live_worst_forecast_lag real = none       The largest as the group was.
--   worst_forecast_lag real = none            By the strategy.
--   live_cross_rack_share real                Median share of partitions read from another rack as the group was.
--   cross_rack_share real                     By the strategy.
--   live_cross_rack_bytes_per_second double precision  Mean bytes per second across racks as the group was.
--   cross_rack_bytes_per_second double precision       By the strategy.
--   moves integer                             Median number of partitions that it would have moved.
--   worst_moves integer                       The most that it would have moved.
--   first_at timestamptz                      When the first of these days (or hours) began.
--   last_at timestamptz                       When the last one began.
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
    count(*) AS days,
    sum(own.snapshots)::bigint AS snapshots,
    sum(own.runnable_snapshots)::bigint AS runnable_snapshots,
    sum(own.won_snapshots)::bigint AS won_snapshots,
    sum(own.switch_snapshots)::bigint AS switch_snapshots,
    (percentile_disc(0.5) WITHIN GROUP (ORDER BY live.median_member_lag))::bigint AS live_member_lag,
    (percentile_disc(0.5) WITHIN GROUP (ORDER BY own.median_member_lag))::bigint AS member_lag,
    max(live.worst_member_lag)::bigint AS live_worst_member_lag,
    max(own.worst_member_lag)::bigint AS worst_member_lag,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY live.median_forecast_lag) AS live_forecast_lag,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY own.median_forecast_lag) AS forecast_lag,
    max(live.worst_forecast_lag) AS live_worst_forecast_lag,
    max(own.worst_forecast_lag) AS worst_forecast_lag,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY live.median_cross_rack_share) AS live_cross_rack_share,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY own.median_cross_rack_share) AS cross_rack_share,
    avg(live.cross_rack_bytes_per_second) AS live_cross_rack_bytes_per_second,
    avg(own.cross_rack_bytes_per_second) AS cross_rack_bytes_per_second,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY own.median_moves) AS moves,
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
