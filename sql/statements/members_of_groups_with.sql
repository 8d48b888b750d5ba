-- All members of the groups that contain one of the given members, in the newest snapshots with metrics and with
-- advice of each cluster.
--
-- Parameters:
--   :member_ids text[]  Ids of members.
WITH named AS (
    SELECT DISTINCT
        one.snapshot_id,
        one.group_id
    FROM newest_snapshot AS newest
    INNER JOIN member_metrics AS one ON one.snapshot_id = any(ARRAY[newest.measured, newest.advised])
    WHERE one.member_id = any(CAST(:member_ids AS text[]))
)

SELECT member.*
FROM named
INNER JOIN member_metrics AS member ON member.snapshot_id = named.snapshot_id AND member.group_id = named.group_id
ORDER BY member.cluster, member.snapshot_id, member.group_id, member.member_id;
