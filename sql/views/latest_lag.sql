-- One row per group of the newest measured snapshot of each cluster: lag (offsets), skew, racks, status, and how old
-- all that is. Shares are fractions of 1. Null is unknown.
CREATE OR REPLACE VIEW latest_lag AS
SELECT
    newest.cluster,
    metrics.group_id,
    metrics.group_type,
    metrics.state,
    metrics.assignor,
    metrics.status,
    metrics.members,
    metrics.idle_members,
    metrics.partitions,
    metrics.unowned_partitions,
    metrics.total_lag,
    metrics.unknown_lag_partitions,
    metrics.largest_partition_lag,
    metrics.largest_member_lag,
    metrics.lag_skew,
    metrics.lag_floor,
    metrics.lost_records,
    metrics.partition_spread,
    metrics.cross_rack_share,
    metrics.cross_leader_share,
    metrics.racks_left_out,
    metrics.production_per_second,
    metrics.consumption_per_second,
    metrics.time_lag_seconds,
    metrics.time_to_loss_seconds,
    metrics.drain_seconds,
    metrics.error,
    metrics.findings,
    metrics.snapshot_id,
    snapshot.started_at AS taken_at,
    extract(epoch FROM now() - snapshot.started_at)::double precision AS age_seconds,
    snapshot.partial,
    metrics.config_version,
    metrics.rates_since,
    metrics.cross_rack_bytes_per_second,
    metrics.cross_rack_cost_per_month,
    metrics.currency
FROM newest_snapshot AS newest
INNER JOIN snapshot ON snapshot.snapshot_id = newest.measured
INNER JOIN group_metrics AS metrics ON metrics.snapshot_id = newest.measured;
