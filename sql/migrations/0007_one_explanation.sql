-- The columns are explained as the records that they hold explain them; what is never unknown is never null.

UPDATE group_metrics SET findings = '{}' WHERE findings IS NULL;
UPDATE candidate SET findings = '{}' WHERE findings IS NULL;
UPDATE candidate SET moved = '[]' WHERE moved IS NULL;

ALTER TABLE group_metrics ALTER COLUMN group_type SET NOT NULL;
ALTER TABLE group_metrics ALTER COLUMN state SET NOT NULL;
ALTER TABLE group_metrics ALTER COLUMN status SET NOT NULL;
ALTER TABLE group_metrics ALTER COLUMN findings SET NOT NULL;
ALTER TABLE member_metrics ALTER COLUMN identity SET NOT NULL;
ALTER TABLE member_metrics ALTER COLUMN client_id SET NOT NULL;
ALTER TABLE member_metrics ALTER COLUMN client_host SET NOT NULL;
ALTER TABLE member_metrics ALTER COLUMN partitions SET NOT NULL;
ALTER TABLE partition_latest ALTER COLUMN lag_basis SET NOT NULL;
ALTER TABLE partition_latest ALTER COLUMN time_lag_basis SET NOT NULL;
ALTER TABLE partition_latest ALTER COLUMN status SET NOT NULL;
ALTER TABLE partition_worst ALTER COLUMN lag_basis SET NOT NULL;
ALTER TABLE partition_worst ALTER COLUMN time_lag_basis SET NOT NULL;
ALTER TABLE partition_worst ALTER COLUMN status SET NOT NULL;
ALTER TABLE candidate ALTER COLUMN reason SET NOT NULL;
ALTER TABLE candidate ALTER COLUMN findings SET NOT NULL;
ALTER TABLE candidate ALTER COLUMN moved SET NOT NULL;

COMMENT ON COLUMN snapshot.first_read_at IS
    'When the first of its committed offsets was read (log starts before it); null before it is measured.';
COMMENT ON COLUMN validation.snapshot_id IS 'Which snapshot it belongs to.';
COMMENT ON COLUMN group_metrics.snapshot_id IS 'Which snapshot it belongs to.';
COMMENT ON COLUMN group_metrics.config_version IS 'Hash of the configuration it was computed with.';
COMMENT ON COLUMN group_metrics.group_type IS
    'Type of the group: classic, consumer (KIP-848), streams (KIP-1071), share or unknown.';
COMMENT ON COLUMN group_metrics.largest_member_lag IS
    'Largest lag of a member, in offsets; null when a lag is unknown.';
COMMENT ON COLUMN group_metrics.cross_leader_share IS
    'Cross-rack share against the leader''s rack alone; a fraction of 1.';
COMMENT ON COLUMN group_metrics.racks_left_out IS
    'Number of owned partitions left out of the shares because a rack is unknown.';
COMMENT ON COLUMN group_metrics.drain_seconds IS 'Seconds until the slowest member has caught up; Infinity: never.';
COMMENT ON COLUMN group_metrics.cross_rack_bytes_per_second IS
    'Bytes per second across racks once it keeps up; null when a rate, a size or who serves reads is unknown.';
COMMENT ON COLUMN group_metrics.cross_rack_cost_per_month IS
    'What that costs in 30 days at the configured price_per_gb; null without a price or when it is unknown.';
COMMENT ON COLUMN member_metrics.snapshot_id IS 'Which snapshot it belongs to.';
COMMENT ON COLUMN member_metrics.config_version IS 'Hash of the configuration it was computed with.';
COMMENT ON COLUMN member_metrics.production_per_second IS 'Offsets per second produced to its partitions.';
COMMENT ON COLUMN member_metrics.capacity_basis IS 'Where the capacity is known from: configured or seen.';
COMMENT ON COLUMN partition_latest.snapshot_id IS 'Which snapshot it belongs to.';
COMMENT ON COLUMN partition_latest.config_version IS 'Hash of the configuration it was computed with.';
COMMENT ON COLUMN partition_worst.snapshot_id IS 'Which snapshot it belongs to.';
COMMENT ON COLUMN partition_worst.config_version IS 'Hash of the configuration it was computed with.';
COMMENT ON COLUMN candidate.snapshot_id IS 'Which snapshot it belongs to.';
COMMENT ON COLUMN candidate.position IS 'Place of the strategy in the table of strategies, from 0.';
COMMENT ON COLUMN candidate.reach IS
    'How a user gets it: setting, class, plan, yardstick, never advised, already there.';
COMMENT ON COLUMN candidate.replay IS
    'Begins "next rebalance" if members report what they own now, else "fresh assignment"; null without score.';
COMMENT ON COLUMN candidate.lag_floor_equal_counts IS
    'No assignment with equal partition counts has a smaller largest member lag than this, in offsets.';
COMMENT ON COLUMN candidate.cross_rack_rate_share IS
    'Cross-rack share weighted by offsets per second; null when a rate is unknown or all are 0.';
COMMENT ON COLUMN candidate.cross_rack_in_sync_share IS 'Cross-rack share over in-sync replicas only.';
COMMENT ON COLUMN candidate.cross_leader_share IS 'Cross-rack share against the leader''s rack alone; a fraction of 1.';
COMMENT ON COLUMN candidate.cross_rack_bytes_per_second IS
    'Bytes per second across racks once it keeps up; null when a rate, a size or who serves reads is unknown.';
COMMENT ON COLUMN candidate.cross_rack_cost_per_month IS
    'What that costs in 30 days at the configured price_per_gb; null without a price or when it is unknown.';
COMMENT ON COLUMN candidate.proof IS
    'What is proven of it: "exact", or how far from its floor it is at most; null when nothing is claimed.';
COMMENT ON COLUMN advice.snapshot_id IS 'Which snapshot it belongs to.';
COMMENT ON COLUMN advice.config_version IS 'Hash of the configuration it was computed with.';
COMMENT ON COLUMN advice.verdict IS 'What it was told: switch, stay or not judged.';
COMMENT ON COLUMN alert.state IS
    'Whether it is pending, sent, or superseded by something newer before it could be sent.';
COMMENT ON COLUMN step_run.snapshot_id IS
    'The snapshot, also one that has no row yet; null for a step that makes one or needs none.';
COMMENT ON COLUMN step_run.outcome IS 'How it ended: ok or failed.';
