-- How long did what was wrong last? One row per incident of a group or of the pipeline (group_id is null) that was open in
-- the period, the newest first. duration_seconds: from its beginning to its end, or until now while closed_at is null.
--
-- Parameters:
--   :cluster text = null            Configured name of the cluster; null: every cluster.
--   :group text = null              The consumer group; null: every group, and the pipeline.
--   :owner text = null              Who owns the group; null: everybody, and nobody.
--   :hours double precision = 168   How many hours to look back.
--   :limit integer = 50             How many rows at most.
--
-- Columns as in: incident_history.
-- Its own columns:
--   duration_seconds double precision  Seconds from then until it was over, or until now.
SELECT
    cluster,
    group_id,
    kind,
    severity,
    owner,
    coalesce(began_at, opened_at) AS began_at,
    opened_at,
    notified_at,
    closed_at,
    extract(epoch FROM coalesce(closed_at, now()) - coalesce(began_at, opened_at))::double precision
        AS duration_seconds,
    summary
FROM incident
WHERE
    (closed_at IS NULL OR closed_at >= now() - make_interval(secs => 3600 * CAST(:hours AS double precision)))
    AND (CAST(:cluster AS text) IS NULL OR cluster = CAST(:cluster AS text))
    AND (CAST(:group AS text) IS NULL OR group_id = CAST(:group AS text))
    AND (CAST(:owner AS text) IS NULL OR owner = CAST(:owner AS text))
ORDER BY began_at DESC, incident_id DESC
LIMIT CAST(:limit AS integer);
