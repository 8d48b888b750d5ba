-- How did the lag of a group change from snapshot to snapshot? One row per snapshot, oldest first. Lag is in offsets,
-- rates are in offsets per second. Null is unknown, except that there is no skew without lag and no member figure
-- without members.
--
-- Parameters:
--   :group text                       Consumer group.
--   :cluster text = null              Configured name of the cluster; null for all clusters.
--   :hours double precision = 24      Length of the period in hours.
--   :until timestamptz = null         End of the period; null for now.
--
-- Plot: total_lag, time_lag_seconds over taken_at, a line per cluster, group_id.
--
-- Columns as in: group_metrics.
SELECT
    history.cluster,
    history.taken_at,
    history.total_lag,
    history.time_lag_seconds,
    history.diagnosis,
    history.members,
    history.consumption_per_second,
    history.production_per_second,
    history.status,
    history.state,
    history.largest_member_lag,
    history.lag_lower_bound,
    history.lag_skew,
    history.delay_seconds,
    snapshot.snapshot_id
FROM lag_history AS history
LEFT JOIN snapshot ON snapshot.cluster = history.cluster AND snapshot.started_at = history.taken_at
WHERE
    history.group_id = CAST(:group AS text)
    AND (CAST(:cluster AS text) IS NULL OR history.cluster = CAST(:cluster AS text))
    AND history.taken_at <= coalesce(CAST(:until AS timestamptz), now())
    AND history.taken_at >= coalesce(CAST(:until AS timestamptz), now())
    - make_interval(secs => 3600 * CAST(:hours AS double precision))
ORDER BY history.cluster, history.taken_at;
