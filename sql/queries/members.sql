-- Which members have the lag? One row per member of the newest snapshot with metrics, by group, most lag first. With
-- `most`, only the members with the most lag in all groups are listed. Lag is in offsets, rates and capacity are in
-- offsets per second. `lag_share` is a fraction of 1 of the lag of the group's members. Null is unknown, except that
-- there is no share of a lag of 0.
--
-- Parameters:
--   :cluster text = null  Configured name of the cluster; null for all clusters.
--   :group text = null    Consumer group; null for all groups.
--   :most integer = null  Number of members with the most lag; null for all members, group by group.
--
-- Columns as in: member_metrics.
-- Its own columns:
--   lag_share double precision  Share of the lag of the group's members; null if that lag is 0 or unknown.
SELECT
    member.cluster,
    member.group_id,
    member.identity,
    member.lag,
    member.lag::double precision
    / nullif(sum(member.lag) OVER (PARTITION BY member.snapshot_id, member.group_id), 0)::double precision AS lag_share,
    member.utilization,
    member.consumption_per_second,
    member.capacity_per_second,
    member.partitions,
    member.rack,
    member.production_per_second,
    member.capacity_basis,
    member.cross_rack_partitions,
    member.member_id,
    extract(epoch FROM now() - snapshot.started_at)::double precision AS age_seconds
FROM newest_snapshot AS newest
INNER JOIN snapshot ON snapshot.snapshot_id = newest.measured
INNER JOIN member_metrics AS member ON member.snapshot_id = newest.measured
WHERE
    (CAST(:cluster AS text) IS NULL OR member.cluster = CAST(:cluster AS text))
    AND (CAST(:group AS text) IS NULL OR member.group_id = CAST(:group AS text))
ORDER BY
    CASE WHEN CAST(:most AS integer) IS NOT NULL THEN member.lag END DESC NULLS LAST,
    member.cluster,
    member.group_id,
    member.lag DESC NULLS LAST,
    member.member_id
LIMIT CAST(:most AS integer);
