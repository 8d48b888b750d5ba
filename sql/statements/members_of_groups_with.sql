-- All members of the groups that one of the given is in, in the newest measured and the newest advised snapshot of each
-- cluster.
--
-- Parameters:
--   :member_ids text[]  Ids of members.
SELECT member.*
FROM newest_snapshot AS newest
INNER JOIN member_metrics AS member ON member.snapshot_id IN (newest.measured, newest.advised)
WHERE
    (member.snapshot_id, member.group_id) IN (
        SELECT
            named.snapshot_id,
            named.group_id
        FROM member_metrics AS named
        WHERE named.member_id = any(CAST(:member_ids AS text[]))
    )
ORDER BY member.cluster, member.snapshot_id, member.group_id, member.member_id;
