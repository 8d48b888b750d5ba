-- Where is the lag? One row per partition of the newest snapshot with metrics, largest lag first, unknown lag last.
-- Lag and lost records are in offsets, time lag and time to loss in seconds.
--
-- Parameters:
--   :cluster text = null   Configured name of the cluster; null for all clusters.
--   :group text = null     Consumer group; null for all groups.
--   :limit integer = 20    Maximum number of rows.
--
-- Columns as in: partition_latest.
-- Its own columns:
--   read_at timestamptz  Time when the end offset was read.
SELECT
    cluster,
    group_id,
    topic,
    partition,
    lag,
    time_lag_seconds,
    status,
    lost_records,
    time_to_loss_seconds,
    consumption_per_second,
    production_per_second,
    member_id,
    lag_basis,
    cross_rack,
    subscribed,
    end_at AS read_at,
    extract(epoch FROM now() - end_at)::double precision AS age_seconds
FROM partition_latest
WHERE
    (CAST(:cluster AS text) IS NULL OR cluster = CAST(:cluster AS text))
    AND (CAST(:group AS text) IS NULL OR group_id = CAST(:group AS text))
ORDER BY lag DESC NULLS LAST, cluster, group_id, topic, partition
LIMIT CAST(:limit AS integer);
