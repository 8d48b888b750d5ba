-- What was wrong in a period, with groups and (group_id is null) with the pipeline: one row per incident that was open then,
-- oldest first.
--
-- Parameters:
--   :cluster text              Configured name of the cluster.
--   :since timestamptz         From which moment on.
--   :group text = null         The consumer group; null: every one that matches.
--   :groups_regex text = null  What matches; null: every group.
SELECT
    incident.group_id,
    incident.kind,
    incident.severity,
    incident.opened_at,
    incident.closed_at,
    incident.summary
FROM incident_history AS incident
WHERE
    incident.cluster = CAST(:cluster AS text)
    AND (incident.closed_at IS NULL OR incident.closed_at >= CAST(:since AS timestamptz))
    AND (
        incident.group_id IS NULL
        OR (
            (CAST(:group AS text) IS NULL OR incident.group_id = CAST(:group AS text))
            AND (CAST(:groups_regex AS text) IS NULL OR incident.group_id ~ CAST(:groups_regex AS text))
        )
    )
ORDER BY incident.opened_at, incident.group_id;
