-- The other clusters than these, of which something is remembered or open.
--
-- Parameters:
--   :clusters text[]  Configured names of the clusters that are watched.
SELECT cluster FROM incident_watch
WHERE cluster <> ALL(CAST(:clusters AS text []))
UNION
SELECT cluster FROM incident
WHERE closed_at IS NULL AND cluster <> ALL(CAST(:clusters AS text []))
ORDER BY cluster;
