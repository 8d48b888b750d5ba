-- The other clusters than these, of whose groups something is remembered or open.
--
-- Parameters:
--   :clusters text[]  Configured names of the clusters that are watched.
SELECT cluster FROM group_watch
WHERE cluster <> ALL(CAST(:clusters AS text []))
UNION
SELECT cluster FROM incident
WHERE group_id IS NOT NULL AND closed_at IS NULL AND cluster <> ALL(CAST(:clusters AS text []))
ORDER BY cluster;
