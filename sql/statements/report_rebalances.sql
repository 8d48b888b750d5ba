-- The rebalances of groups in a period: one row per group and interval between two snapshots, oldest first.
--
-- Parameters:
--   :cluster text              Configured name of the cluster.
--   :since timestamptz         Start of the period.
--   :group text = null         Consumer group; null for all matching groups.
--   :groups_regex text = null  Regular expression of group ids; null for all groups.
SELECT
    event.group_id,
    event.until,
    event.cause,
    event.rebalances,
    event.joined,
    event.left_members,
    event.restarted,
    event.partitions_moved,
    event.partition_seconds,
    event.delayed_records,
    event.pause_basis
FROM rebalance AS event
WHERE
    event.cluster = CAST(:cluster AS text)
    AND event.until >= CAST(:since AS timestamptz)
    AND (CAST(:group AS text) IS NULL OR event.group_id = CAST(:group AS text))
    AND (CAST(:groups_regex AS text) IS NULL OR event.group_id ~ CAST(:groups_regex AS text))
ORDER BY event.until, event.group_id;
