-- Who carries the lag? One row per member of the newest measured snapshot, by group, the most lag first. Lag is in
-- offsets, rates and capacity in offsets per second; null is unknown.
--
-- Parameters:
--   :cluster text = null  Configured name of the cluster; null: every cluster.
--   :group text = null    The consumer group; null: every group.
SELECT
    member.cluster,
    member.group_id,
    member.identity,
    member.rack,
    member.partitions,
    member.lag,
    member.production_per_second,
    member.consumption_per_second,
    member.capacity_per_second,
    member.capacity_basis,
    member.utilisation,
    member.cross_rack_partitions,
    member.member_id,
    extract(epoch FROM now() - snapshot.started_at)::double precision AS age_seconds
FROM newest_snapshot AS newest
INNER JOIN snapshot ON snapshot.snapshot_id = newest.measured
INNER JOIN member_metrics AS member ON member.snapshot_id = newest.measured
WHERE
    (CAST(:cluster AS text) IS NULL OR member.cluster = CAST(:cluster AS text))
    AND (CAST(:group AS text) IS NULL OR member.group_id = CAST(:group AS text))
ORDER BY member.cluster, member.group_id, member.lag DESC NULLS LAST, member.member_id;
