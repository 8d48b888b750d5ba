-- How long did each incident last? One row per incident of a group or of the pipeline (group_id is null) that was
-- open in the period, newest first.
--
-- Parameters:
--   :cluster text = null            Configured name of the cluster; null for all clusters.
--   :group text = null              Consumer group; null for all groups and the pipeline.
--   :owner text = null              Owner of the group; null for all owners, and for groups without an owner.
--   :hours double precision = 168   Length of the period in hours.
--   :until timestamptz = null       End of the period; null for now.
--   :limit integer = 50             Maximum number of rows.
--
-- Columns as in: incident_history.
-- Its own columns:
--   duration_seconds double precision  Seconds from its start to its end, or to now if it is open.
SELECT
    cluster,
    group_id,
    kind,
    severity,
    coalesce(began_at, opened_at) AS began_at,
    extract(epoch FROM coalesce(closed_at, now()) - coalesce(began_at, opened_at))::double precision
        AS duration_seconds,
    closed_at,
    owner,
    notified_at,
    summary,
    opened_at
FROM incident
WHERE
    coalesce(began_at, opened_at) <= coalesce(CAST(:until AS timestamptz), now())
    AND coalesce(closed_at, 'infinity') >= coalesce(CAST(:until AS timestamptz), now())
    - make_interval(secs => 3600 * CAST(:hours AS double precision))
    AND (CAST(:cluster AS text) IS NULL OR cluster = CAST(:cluster AS text))
    AND (CAST(:group AS text) IS NULL OR group_id = CAST(:group AS text))
    AND (CAST(:owner AS text) IS NULL OR owner = CAST(:owner AS text))
ORDER BY began_at DESC, incident_id DESC
LIMIT CAST(:limit AS integer);
