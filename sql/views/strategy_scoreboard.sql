-- One row per group and strategy of the newest snapshot with candidates: its score (smaller is better), how a user gets
-- it, and whether the group could. The row with is_live is what the group has now, the one to compare with; the row
-- with is_running is the strategy that the group would run at its next rebalance; where that is not known it is null, and
-- of a Kafka Streams application several can be true, if all of them give exactly what it has.
CREATE OR REPLACE VIEW strategy_scoreboard AS
SELECT
    newest.cluster,
    candidate.group_id,
    candidate.strategy,
    candidate.position,
    candidate.strategy = 'live' AS is_live,
    candidate.is_running,
    coalesce(advice.verdict = 'switch' AND advice.strategy = candidate.strategy, FALSE) AS is_advised,
    candidate.reach,
    candidate.feasibility,
    candidate.reason,
    candidate.how,
    candidate.replay,
    candidate.largest_member_lag,
    candidate.lag_skew,
    candidate.lag_floor,
    candidate.lag_floor_equal_counts,
    candidate.cross_rack_share,
    candidate.cross_rack_rate_share,
    candidate.cross_rack_in_sync_share,
    candidate.cross_leader_share,
    candidate.racks_left_out,
    candidate.partition_spread,
    candidate.balanced,
    candidate.most_partitions,
    candidate.fewest_partitions,
    candidate.moves,
    candidate.newly_owned,
    candidate.unowned,
    candidate.drain_seconds,
    candidate.findings,
    candidate.proof,
    candidate.snapshot_id,
    snapshot.started_at AS taken_at,
    candidate.config_version,
    candidate.cross_rack_bytes_per_second,
    candidate.cross_rack_cost_per_month,
    candidate.currency
FROM newest_snapshot AS newest
INNER JOIN snapshot ON snapshot.snapshot_id = newest.proposed
INNER JOIN candidate ON candidate.snapshot_id = newest.proposed
LEFT JOIN advice
    ON advice.snapshot_id = candidate.snapshot_id AND advice.group_id = candidate.group_id;
