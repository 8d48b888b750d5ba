-- The numbers of the groups of a cluster that metrics serve: one row per group of its newest snapshot with metrics.
-- capacity_per_second (of all members) and utilization (of the busiest member) are null while the capacity of a member
-- is unknown or only a lower bound. time_lag_at_least is true where time_lag_seconds is only a lower bound. The forecasts
-- are those of the current assignment.
--
-- Parameters:
--   :cluster text  Configured name of the cluster.
SELECT
    lag.group_id,
    lag.group_type,
    lag.assignor,
    lag.subscribed_topics,
    lag.diagnosis,
    lag.facts,
    lag.members,
    lag.idle_members,
    lag.partitions,
    lag.total_lag,
    lag.delay_seconds,
    lag.time_lag_seconds,
    lag.time_lag_seconds > 0 AND EXISTS (
        SELECT FROM partition_latest AS late
        WHERE
            late.snapshot_id = lag.snapshot_id
            AND late.group_id = lag.group_id
            AND late.counted
            AND late.time_lag_basis = 'at least'
    ) AS time_lag_at_least,
    lag.production_per_second,
    lag.consumption_per_second,
    lag.cross_rack_bytes_per_second,
    able.capacity_per_second,
    able.utilization,
    live.forecast_soon_lag_low,
    live.forecast_soon_lag_expected,
    live.forecast_soon_lag_high,
    live.forecast_lag_low,
    live.forecast_lag_expected,
    live.forecast_lag_high,
    live.forecast_drained_seconds_low,
    live.forecast_drained_seconds_expected,
    live.forecast_drained_seconds_high,
    advice.state AS advice_state,
    (
        SELECT count(*) FROM incident
        WHERE incident.cluster = lag.cluster AND incident.group_id = lag.group_id AND incident.closed_at IS NULL
    ) AS open_incidents
FROM latest_lag AS lag
LEFT JOIN (
    SELECT
        member.snapshot_id,
        member.group_id,
        sum(member.capacity_per_second) AS capacity_per_second,
        max(member.utilization) AS utilization
    FROM newest_snapshot AS newest
    INNER JOIN member_metrics AS member ON member.snapshot_id = newest.measured
    WHERE newest.cluster = CAST(:cluster AS text)
    GROUP BY member.snapshot_id, member.group_id
    HAVING bool_and(coalesce(member.capacity_basis IN ('configured', 'saturated', 'as its peers'), FALSE))
) AS able ON able.snapshot_id = lag.snapshot_id AND able.group_id = lag.group_id
LEFT JOIN strategy_scoreboard AS live ON live.cluster = lag.cluster AND live.group_id = lag.group_id AND live.is_live
LEFT JOIN latest_advice AS advice ON advice.cluster = lag.cluster AND advice.group_id = lag.group_id
WHERE lag.cluster = CAST(:cluster AS text)
ORDER BY lag.group_id;
