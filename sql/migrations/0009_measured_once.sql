-- What later steps need of a group's past is kept with its metrics, and all that is said of its present assignment.

ALTER TABLE group_metrics ADD COLUMN subscribed_topics text[];
ALTER TABLE group_metrics ADD COLUMN balanced boolean;
ALTER TABLE group_metrics ADD COLUMN most_partitions integer;
ALTER TABLE group_metrics ADD COLUMN fewest_partitions integer;
ALTER TABLE group_metrics ADD COLUMN lag_floor_equal_counts bigint;
ALTER TABLE group_metrics ADD COLUMN cross_rack_rate_share double precision;
ALTER TABLE group_metrics ADD COLUMN cross_rack_in_sync_share double precision;

ALTER TABLE partition_latest ADD COLUMN counted boolean;
ALTER TABLE partition_latest ADD COLUMN lag_for_strategies bigint;
ALTER TABLE partition_latest ADD COLUMN production_deviation_per_second double precision;
ALTER TABLE partition_latest ADD COLUMN consumption_deviation_per_second double precision;

ALTER TABLE partition_worst ADD COLUMN counted boolean;
ALTER TABLE partition_worst ADD COLUMN lag_for_strategies bigint;
ALTER TABLE partition_worst ADD COLUMN production_deviation_per_second double precision;
ALTER TABLE partition_worst ADD COLUMN consumption_deviation_per_second double precision;

COMMENT ON COLUMN group_metrics.subscribed_topics IS
    'Topics its members subscribe to; of a rebalancing group those last known; null when none is known.';
COMMENT ON COLUMN group_metrics.balanced IS
    'KIP-54: nobody with two partitions fewer could take one of somebody else''s.';
COMMENT ON COLUMN group_metrics.most_partitions IS 'Number of partitions of the member that has most.';
COMMENT ON COLUMN group_metrics.fewest_partitions IS 'Number of partitions of the member that has fewest.';
COMMENT ON COLUMN group_metrics.lag_floor_equal_counts IS
    'No assignment with equal partition counts has a smaller largest member lag than this, in offsets.';
COMMENT ON COLUMN group_metrics.cross_rack_rate_share IS
    'Cross-rack share weighted by offsets per second; null when a rate is unknown or all are 0.';
COMMENT ON COLUMN group_metrics.cross_rack_in_sync_share IS 'Cross-rack share over in-sync replicas only.';
COMMENT ON COLUMN partition_latest.counted IS 'Whether it is inside the totals of the group.';
COMMENT ON COLUMN partition_latest.lag_for_strategies IS
    'Lag as strategies are given it: without a commit that of the configured reset, else 0 (KIP-169).';
COMMENT ON COLUMN partition_latest.production_deviation_per_second IS
    'Standard deviation of what was produced per second between snapshots; null below two such spans.';
COMMENT ON COLUMN partition_latest.consumption_deviation_per_second IS
    'Standard deviation of what the group committed per second between snapshots; null below two such spans.';
COMMENT ON COLUMN partition_worst.counted IS 'Whether it is inside the totals of the group.';
COMMENT ON COLUMN partition_worst.lag_for_strategies IS
    'Lag as strategies are given it: without a commit that of the configured reset, else 0 (KIP-169).';
COMMENT ON COLUMN partition_worst.production_deviation_per_second IS
    'Standard deviation of what was produced per second between snapshots; null below two such spans.';
COMMENT ON COLUMN partition_worst.consumption_deviation_per_second IS
    'Standard deviation of what the group committed per second between snapshots; null below two such spans.';
