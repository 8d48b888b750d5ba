-- What would each strategy do for a group? One row per group and strategy of the newest snapshot with candidates, in the
-- order of the strategy table; "live" is what the group has now. Smaller is better everywhere: lag in offsets, shares as
-- fractions of 1, cost in 30 days in the configured currency, moves in partitions, drain time in seconds.
-- leave_, join_ and restart_moves: what would change owner later, under what the group runs or a setting could make it run,
-- when one member leaves (mean and worst over members_tried), when one joins, and in all while every member restarts; null
-- for all others.
-- forecast_: what becomes of the group in the coming hour under each, low and high with one case in ten beyond either; null
-- where it keeps up and little crosses racks. price_: what it takes to get there; price_offset_seconds is to be set against
-- the fall of forecast_lag_integral.
-- proof says what is proven of an assignment, findings what is wrong with it, notes what was taken for what is not known
-- and what else is to be said; they are null or empty for most.
--
-- Parameters:
--   :cluster text = null  Configured name of the cluster; null: every cluster.
--   :group text = null    The consumer group; null: every group.
SELECT
    cluster,
    group_id,
    strategy,
    is_live,
    is_running,
    is_advised,
    feasibility,
    deployment,
    largest_member_lag,
    lag_floor,
    lag_skew,
    cross_rack_share,
    cross_rack_cost_per_month,
    currency,
    partition_spread,
    moves,
    leave_moves_mean,
    leave_moves_of_others_mean,
    leave_moves_worst,
    join_moves,
    restart_moves,
    members_tried,
    drain_seconds,
    forecast_soon_lag_low,
    forecast_soon_lag_expected,
    forecast_soon_lag_high,
    forecast_lag_low,
    forecast_lag_expected,
    forecast_lag_high,
    forecast_delay_seconds_expected,
    forecast_drained_seconds_low,
    forecast_drained_seconds_expected,
    forecast_drained_seconds_high,
    forecast_utilisation_expected,
    forecast_lag_integral_low,
    forecast_lag_integral_expected,
    forecast_lag_integral_high,
    price_restarts,
    price_held_up_offsets,
    price_offset_seconds,
    replay,
    proof,
    findings,
    notes,
    reason,
    extract(epoch FROM now() - taken_at)::double precision AS age_seconds
FROM strategy_scoreboard
WHERE
    (CAST(:cluster AS text) IS NULL OR cluster = CAST(:cluster AS text))
    AND (CAST(:group AS text) IS NULL OR group_id = CAST(:group AS text))
ORDER BY cluster, group_id, position;
