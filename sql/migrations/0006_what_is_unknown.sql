-- What is unknown is said where it is read: a total of nothing seen, a subscription that nobody tells.

COMMENT ON COLUMN group_metrics.total_lag IS
    'Lag over all its partitions, in offsets; null when one is unknown, or none of its partitions is seen.';
COMMENT ON COLUMN partition_latest.subscribed IS
    'Whether a member subscribes to the topic; null while members do not tell, as they rebalance.';
COMMENT ON COLUMN partition_worst.subscribed IS
    'Whether a member subscribes to the topic; null while members do not tell, as they rebalance.';
COMMENT ON COLUMN snapshot.first_read_at IS
    'When the first of its committed offsets was read (log starts are read before); null before it is measured.';
