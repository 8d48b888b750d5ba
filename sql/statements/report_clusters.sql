-- The clusters that the history knows, by name.
SELECT cluster
FROM newest_snapshot
ORDER BY cluster;
