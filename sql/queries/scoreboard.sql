-- How does each strategy score for a group? One row per group and strategy of the newest snapshot with candidates, in
-- the order of the strategy table; "live" is the current assignment. Smaller is better: lag in offsets, shares as
-- fractions of 1, cost in 30 days in the configured currency, moves in partitions, drain time in seconds. leave_,
-- join_ and restart_moves: later reassignments if one member leaves (mean and maximum over members_tried), if one
-- joins, and in total if every member restarts. They are null for strategies that neither the group runs nor a
-- setting can deploy. last_week_: membership changes of the last seven days that were replayed with the strategy, the
-- partitions that they moved, and the partitions that the strategy would have moved; null without changes. forecast_:
-- the group in the next hour with each strategy, p10 (low) to p90 (high); null if the group is healthy and has little
-- cross-rack traffic. All percentiles are in the view strategy_scoreboard. Forecasts include the cost of the switch;
-- price_ is that cost alone, forecast_gain_expected what the switch saves. stores_in_one_rack: the number of the
-- stores_judged of a Kafka Streams application with all copies in one rack. proof is the proven quality of an
-- assignment, findings its problems, notes assumptions and remarks; most rows have none.
--
-- Parameters:
--   :cluster text = null  Configured name of the cluster; null for all clusters.
--   :group text = null    Consumer group; null for all groups.
--
-- Columns as in: strategy_scoreboard.
-- Its own columns:
--   last_week_changes bigint (snapshots) = none            Number of snapshots with membership changes that were replayed with it.
--   last_week_moved bigint (partitions) = none             Number of partitions that those changes moved.
--   last_week_would_have_moved bigint (partitions) = none  Number of partitions that the strategy would have moved.
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
    board.is_advised,
    board.largest_member_lag,
    board.forecast_lag_expected,
    board.cross_rack_share,
    board.moves,
    board.feasibility,
    board.price_restarts,
    board.is_live,
    board.is_running,
    board.deployment,
    board.lag_lower_bound,
    board.lag_skew,
    board.cross_rack_cost_per_month,
    board.currency,
    board.partition_spread,
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
    board.forecast_lag_high,
    board.forecast_delay_seconds_expected,
    board.forecast_drained_seconds_expected,
    board.forecast_utilization_expected,
    board.forecast_lag_integral_expected,
    board.forecast_gain_expected,
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
