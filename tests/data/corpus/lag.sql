-- In DuckDB, in the folder of the unzipped recording: the lag of each group in each snapshot.
SELECT snapshot_id, group_id, sum(end_offset - committed_offset) AS lag
FROM 'commits.parquet' JOIN 'partitions.parquet' USING (snapshot_id, topic, partition)
GROUP BY ALL ORDER BY ALL
