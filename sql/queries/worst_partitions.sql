-- Where is the lag? One row per partition of the newest measured snapshot, the largest lag first. Lag and lost records are
-- in offsets, time lag and time to loss in seconds. A partition of unknown lag comes last.
--
-- Parameters:
--   :cluster text = null   Configured name of the cluster; null: every cluster.
--   :group text = null     The consumer group; null: every group.
--   :limit integer = 20    How many rows at most.
--
-- Columns as in: partition_latest.
-- Its own columns:
--   read_at timestamptz  When the end offset was read.
SELECT
    cluster,
    group_id,
    topic,
    partition,
    lag,
    lag_basis,
    status,
    lost_records,
    time_lag_seconds,
    time_to_loss_seconds,
    production_per_second,
    consumption_per_second,
    member_id,
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
