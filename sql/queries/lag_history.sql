-- How did the lag of a group develop? One row per snapshot, oldest first. Lag is in offsets, rates in offsets per second;
-- null is unknown, but there is no skew without lag, and nothing of members without any.
--
-- Parameters:
--   :group text                       The consumer group.
--   :cluster text = null              Configured name of the cluster; null: every cluster.
--   :hours double precision = 24      How many hours to look back.
SELECT
    snapshot.cluster,
    snapshot.started_at AS taken_at,
    metrics.status,
    metrics.state,
    metrics.members,
    metrics.total_lag,
    metrics.largest_member_lag,
    metrics.lag_floor,
    metrics.lag_skew,
    metrics.time_lag_seconds,
    metrics.production_per_second,
    metrics.consumption_per_second,
    metrics.snapshot_id
FROM group_metrics AS metrics
INNER JOIN snapshot ON snapshot.snapshot_id = metrics.snapshot_id
WHERE
    metrics.group_id = CAST(:group AS text)
    AND (CAST(:cluster AS text) IS NULL OR metrics.cluster = CAST(:cluster AS text))
    AND snapshot.started_at >= now() - make_interval(secs => 3600 * CAST(:hours AS double precision))
ORDER BY snapshot.cluster, snapshot.started_at, metrics.snapshot_id;
