-- The clusters of the history database, by name.
SELECT cluster
FROM newest_snapshot
ORDER BY cluster;
