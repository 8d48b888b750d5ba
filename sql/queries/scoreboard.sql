-- What would each strategy do for a group? One row per group and strategy of the newest snapshot with candidates, in the
-- order of the strategy table; "live" is what the group has now. Smaller is better everywhere: lag in offsets, shares as
-- fractions of 1, cost in 30 days in the configured currency, moves in partitions, drain time in seconds.
-- leave_, join_ and restart_moves: what would change owner later, under what the group runs or a setting could make it run,
-- when one member leaves (mean and worst over members_tried), when one joins, and in all while every member restarts; null
-- for all others.
-- last_week_: of the changes of its members that the last seven days saw (joins, leaves, restarts), how many were replayed
-- under the strategy, how many partitions they moved, and would have moved with it in force; null where there was none.
-- forecast_: what becomes of the group in the coming hour under each, low and high with one case in ten beyond either; null
-- where it keeps up and little crosses racks. price_: what it takes to get there; price_offset_seconds is to be set against
-- the fall of forecast_lag_integral_expected. All ends of all forecasts are in the view strategy_scoreboard.
-- stores_in_one_rack: of how many of the stores_judged of a Kafka Streams application one rack would have all copies.
-- proof says what is proven of an assignment, findings what is wrong with it, notes what was taken for what is not known
-- and what else is to be said; they are null or empty for most.
--
-- Parameters:
--   :cluster text = null  Configured name of the cluster; null: every cluster.
--   :group text = null    The consumer group; null: every group.
--
-- Columns as in: strategy_scoreboard.
-- Its own columns:
--   last_week_changes bigint (snapshots) = none            Snapshots in which its members had changed, replayed under it.
--   last_week_moved bigint (partitions) = none             Partitions that those changes moved.
--   last_week_would_have_moved bigint (partitions) = none  Partitions that they would have moved with it in force.
WITH replayed AS (
    SELECT
        history.cluster,
        history.group_id,
        each.strategy,
        count(*) AS changes,
        sum(history.partitions_moved)::bigint AS moved,
        sum(each.moves)::bigint AS would_have_moved
    FROM lag_history AS history
    CROSS JOIN LATERAL jsonb_to_recordset(history.would_have_moved) AS each (strategy text, moves bigint)
    WHERE
        history.would_have_moved IS NOT NULL
        AND (CAST(:cluster AS text) IS NULL OR history.cluster = CAST(:cluster AS text))
        AND (CAST(:group AS text) IS NULL OR history.group_id = CAST(:group AS text))
        AND history.taken_at >= now() - interval '7 days'
    GROUP BY history.cluster, history.group_id, each.strategy
)

SELECT
    board.cluster,
    board.group_id,
    board.strategy,
    board.is_live,
    board.is_running,
    board.is_advised,
    board.feasibility,
    board.deployment,
    board.largest_member_lag,
    board.lag_lower_bound,
    board.lag_skew,
    board.cross_rack_share,
    board.cross_rack_cost_per_month,
    board.currency,
    board.partition_spread,
    board.moves,
    board.leave_moves_mean,
    board.leave_moves_of_others_mean,
    board.leave_moves_worst,
    board.join_moves,
    board.restart_moves,
    board.members_tried,
    replayed.changes AS last_week_changes,
    replayed.moved AS last_week_moved,
    replayed.would_have_moved AS last_week_would_have_moved,
    board.drain_seconds,
    board.stores_in_one_rack,
    board.stores_judged,
    board.forecast_lag_low,
    board.forecast_lag_expected,
    board.forecast_lag_high,
    board.forecast_delay_seconds_expected,
    board.forecast_drained_seconds_expected,
    board.forecast_utilisation_expected,
    board.forecast_lag_integral_expected,
    board.price_restarts,
    board.price_held_up_offsets,
    board.price_offset_seconds,
    board.replay,
    board.proof,
    board.findings,
    board.notes,
    board.reason,
    extract(epoch FROM now() - board.taken_at)::double precision AS age_seconds
FROM strategy_scoreboard AS board
LEFT JOIN replayed
    ON replayed.cluster = board.cluster AND replayed.group_id = board.group_id AND replayed.strategy = board.strategy
WHERE
    (CAST(:cluster AS text) IS NULL OR board.cluster = CAST(:cluster AS text))
    AND (CAST(:group AS text) IS NULL OR board.group_id = CAST(:group AS text))
ORDER BY board.cluster, board.group_id, board.position;
