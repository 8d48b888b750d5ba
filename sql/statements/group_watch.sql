-- How far the groups of a cluster have been watched, with each course that is remembered, by group; one row without a course
-- where there is none.
--
-- Parameters:
--   :cluster text  Configured name of the cluster.
SELECT
    w.snapshot_id,
    w.at,
    w.first_at,
    c.group_id,
    c.course
FROM group_watch AS w
LEFT JOIN group_course AS c ON c.cluster = w.cluster
WHERE w.cluster = CAST(:cluster AS text)
ORDER BY c.group_id;
