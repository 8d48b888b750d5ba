-- The members of groups in the newest snapshot with metrics of a cluster: one row per member.
--
-- Parameters:
--   :cluster text              Configured name of the cluster.
--   :group text = null         Consumer group; null for all matching groups.
--   :groups_regex text = null  Regular expression of group ids; null for all groups.
SELECT
    member.group_id,
    member.member_id,
    member.client_id,
    member.client_host,
    member.instance_id,
    member.rack,
    member.partitions,
    member.lag,
    member.utilization,
    member.capacity_basis,
    member.silent,
    member.cross_rack_partitions
FROM newest_snapshot AS newest
INNER JOIN member_metrics AS member ON member.snapshot_id = newest.measured
WHERE
    newest.cluster = CAST(:cluster AS text)
    AND (CAST(:group AS text) IS NULL OR member.group_id = CAST(:group AS text))
    AND (CAST(:groups_regex AS text) IS NULL OR member.group_id ~ CAST(:groups_regex AS text))
ORDER BY member.group_id, member.member_id;
