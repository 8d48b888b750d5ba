-- What is wrong right now? One row per open incident, the longest first.
--
-- Parameters:
--   :cluster text = null  Configured name of the cluster; null: every cluster.
SELECT
    cluster,
    group_id,
    kind,
    severity,
    opened_at,
    last_seen_at,
    extract(epoch FROM now() - opened_at)::double precision AS open_seconds,
    facts
FROM incident
WHERE
    closed_at IS NULL
    AND (CAST(:cluster AS text) IS NULL OR cluster = CAST(:cluster AS text))
ORDER BY opened_at, incident_id;
