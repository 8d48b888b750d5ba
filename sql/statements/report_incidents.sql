-- The incidents of groups and (group_id is null) of the pipeline that were open in a period: one row per incident,
-- oldest first.
--
-- Parameters:
--   :cluster text              Configured name of the cluster.
--   :since timestamptz         Start of the period.
--   :group text = null         Consumer group; null for all matching groups.
--   :groups_regex text = null  Regular expression of group ids; null for all groups.
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
