-- The clusters other than the given ones that have stored incident states or open incidents.
--
-- Parameters:
--   :clusters text[]  Configured names of the watched clusters.
SELECT cluster FROM incident_watch
WHERE cluster <> ALL(CAST(:clusters AS text []))
UNION
SELECT cluster FROM incident
WHERE closed_at IS NULL AND cluster <> ALL(CAST(:clusters AS text []))
ORDER BY cluster;
