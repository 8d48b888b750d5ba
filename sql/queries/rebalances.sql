-- Why did groups rebalance? One row per group and interval between two snapshots with a rebalance, newest first. `cause`
-- is the most specific one. `rebalances` is exact if epochs or generations count them (`counted_by_epoch`), otherwise
-- each dynamic member that joined or left counts as one. `partition_seconds` sums for how long partitions paused.
--
-- Parameters:
--   :cluster text = null            Configured name of the cluster; null for all clusters.
--   :group text = null              Consumer group; null for all groups.
--   :hours double precision = 24    Length of the period in hours.
--   :until timestamptz = null       End of the period; null for now.
--
-- Columns as in: rebalance.
SELECT
    event.cluster,
    event.group_id,
    event.until,
    event.cause,
    event.rebalances,
    event.unseen_rebalances,
    event.counted_by_epoch,
    event.joined,
    event.left_members,
    event.restarted,
    event.partitions_moved,
    event.partition_seconds,
    event.delayed_records,
    event.pause_seconds,
    event.pause_basis,
    event.since,
    event.snapshot_id
FROM rebalance AS event
WHERE
    (CAST(:cluster AS text) IS NULL OR event.cluster = CAST(:cluster AS text))
    AND (CAST(:group AS text) IS NULL OR event.group_id = CAST(:group AS text))
    AND event.until <= coalesce(CAST(:until AS timestamptz), now())
    AND event.until > coalesce(CAST(:until AS timestamptz), now())
    - make_interval(secs => 3600 * CAST(:hours AS double precision))
ORDER BY event.until DESC, event.cluster, event.group_id;
