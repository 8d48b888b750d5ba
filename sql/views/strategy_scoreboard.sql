-- One row per group and strategy of the newest snapshot with candidates: score (smaller is better), deployment and
-- availability. The row with is_live is the current assignment, the baseline. is_running marks the strategy that the
-- group would use at its next rebalance; it is null if unknown. For a Kafka Streams application, is_running may be
-- true for several strategies that give exactly the current assignment.
--
-- Columns as in: candidate.
-- Its own columns:
--   is_live boolean     True for the current assignment.
--   is_advised boolean  True if the advice of that snapshot is to switch to it.
CREATE OR REPLACE VIEW strategy_scoreboard AS
SELECT
    candidate.strategy = 'live' AS is_live,
    coalesce(advice.verdict = 'switch' AND advice.strategy = candidate.strategy, FALSE) AS is_advised,
    snapshot.started_at AS taken_at,
    candidate.snapshot_id,
    candidate.cluster,
    candidate.group_id,
    candidate.config_version,
    candidate.strategy,
    candidate.position,
    candidate.deployment,
    candidate.feasibility,
    candidate.reason,
    candidate.how,
    candidate.replay,
    candidate.partition_spread,
    candidate.balanced,
    candidate.most_partitions,
    candidate.fewest_partitions,
    candidate.largest_member_lag,
    candidate.lag_skew,
    candidate.lag_lower_bound,
    candidate.lag_lower_bound_equal_counts,
    candidate.cross_rack_share,
    candidate.cross_rack_rate_share,
    candidate.cross_rack_in_sync_share,
    candidate.cross_leader_share,
    candidate.racks_left_out,
    candidate.moves,
    candidate.newly_owned,
    candidate.unowned,
    candidate.drain_seconds,
    candidate.findings,
    candidate.proof,
    candidate.cross_rack_bytes_per_second,
    candidate.cross_rack_cost_per_month,
    candidate.currency,
    candidate.is_running,
    candidate.facts,
    candidate.notes,
    candidate.leave_moves_mean,
    candidate.leave_moves_of_others_mean,
    candidate.leave_moves_worst,
    candidate.join_moves,
    candidate.restart_moves,
    candidate.members_tried,
    candidate.forecast_soon_lag_low,
    candidate.forecast_soon_lag_expected,
    candidate.forecast_soon_lag_high,
    candidate.forecast_lag_low,
    candidate.forecast_lag_expected,
    candidate.forecast_lag_high,
    candidate.forecast_delay_seconds_low,
    candidate.forecast_delay_seconds_expected,
    candidate.forecast_delay_seconds_high,
    candidate.forecast_drained_seconds_low,
    candidate.forecast_drained_seconds_expected,
    candidate.forecast_drained_seconds_high,
    candidate.forecast_utilization_low,
    candidate.forecast_utilization_expected,
    candidate.forecast_utilization_high,
    candidate.forecast_lag_integral_low,
    candidate.forecast_lag_integral_expected,
    candidate.forecast_lag_integral_high,
    candidate.price_restarts,
    candidate.price_held_up_offsets,
    candidate.price_offset_seconds,
    extract(epoch FROM now() - snapshot.started_at)::double precision AS age_seconds,
    candidate.stores_in_one_rack,
    candidate.stores_judged,
    candidate.overload_per_second,
    candidate.forecast_gain_low,
    candidate.forecast_gain_expected,
    candidate.forecast_gain_high
FROM newest_snapshot AS newest
INNER JOIN snapshot ON snapshot.snapshot_id = newest.proposed
INNER JOIN candidate ON candidate.snapshot_id = newest.proposed
LEFT JOIN advice
    ON advice.snapshot_id = candidate.snapshot_id AND advice.group_id = candidate.group_id;
