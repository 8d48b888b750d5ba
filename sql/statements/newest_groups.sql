-- The groups of the newest snapshot with metrics of each cluster.
SELECT
    metrics.cluster,
    metrics.group_id
FROM newest_snapshot AS newest
INNER JOIN group_metrics AS metrics ON metrics.snapshot_id = newest.measured
ORDER BY metrics.cluster, metrics.group_id;
