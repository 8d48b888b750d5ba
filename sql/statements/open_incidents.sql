-- The incidents that are open now.
SELECT incident_id, cluster, group_id, kind, severity, opened_at, last_seen_at, closed_at, facts
FROM incident
WHERE closed_at IS NULL
ORDER BY incident_id;
