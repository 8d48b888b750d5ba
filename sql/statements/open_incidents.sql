-- The incidents of pipelines that are open now.
SELECT *
FROM incident
WHERE closed_at IS NULL AND group_id IS NULL
ORDER BY incident_id;
