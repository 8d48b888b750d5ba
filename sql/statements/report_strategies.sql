-- The scores of strategies for the groups of a cluster: one row per group and strategy of its newest snapshot with
-- candidates.
--
-- Parameters:
--   :cluster text              Configured name of the cluster.
--   :group text = null         Consumer group; null for all matching groups.
--   :groups_regex text = null  Regular expression of group ids; null for all groups.
SELECT
    board.group_id,
    board.position,
    board.strategy,
    board.deployment,
    board.feasibility,
    board.is_running,
    board.reason,
    board.forecast_lag_low,
    board.forecast_lag_expected,
    board.forecast_lag_high,
    board.largest_member_lag,
    board.partition_spread,
    board.cross_rack_share,
    board.moves,
    board.price_restarts
FROM strategy_scoreboard AS board
WHERE
    board.cluster = CAST(:cluster AS text)
    AND (CAST(:group AS text) IS NULL OR board.group_id = CAST(:group AS text))
    AND (CAST(:groups_regex AS text) IS NULL OR board.group_id ~ CAST(:groups_regex AS text));
