-- What is the status of every group? One row per group of the newest snapshot with metrics, worst status first, then
-- largest lag. The order is REWIND, STOP, STALL, WARN, groups that could not be read (error is not null), UNKNOWN,
-- OK. advised_on is the snapshot of the newest advice, which may be the previous one. Lag is in offsets, time lag in
-- seconds, cross_rack_share a fraction of 1. Null is unknown, except that there is no skew without lag, and no skew
-- or share without members.
--
-- Parameters:
--   :cluster text = null  Configured name of the cluster; null for all clusters.
--   :group text = null    Consumer group; null for all groups.
--   :pattern text = null  SQL pattern of group ids, such as 'orders%'; null for all groups.
--
-- Columns as in: latest_lag, latest_advice.
-- Its own columns:
--   advised_on timestamptz  Start of the snapshot of its newest advice.
SELECT
    lag.cluster,
    lag.group_id,
    lag.diagnosis,
    lag.diagnosis_reason,
    lag.status,
    lag.state,
    lag.group_type,
    lag.assignor,
    lag.members,
    lag.partitions,
    lag.total_lag,
    lag.lag_skew,
    lag.cross_rack_share,
    lag.time_lag_seconds,
    advice.verdict,
    advice.strategy,
    advice.reason,
    advice.best_undeployable,
    advice.best_undeployable_reason,
    lag.error,
    lag.findings || coalesce(live.findings, '{}') AS findings,
    lag.taken_at,
    advice.taken_at AS advised_on,
    lag.age_seconds
FROM latest_lag AS lag
LEFT JOIN candidate AS live
    ON live.snapshot_id = lag.snapshot_id AND live.group_id = lag.group_id AND live.strategy = 'live'
LEFT JOIN latest_advice AS advice ON advice.cluster = lag.cluster AND advice.group_id = lag.group_id
WHERE
    (CAST(:cluster AS text) IS NULL OR lag.cluster = CAST(:cluster AS text))
    AND (CAST(:group AS text) IS NULL OR lag.group_id = CAST(:group AS text))
    AND (CAST(:pattern AS text) IS NULL OR lag.group_id LIKE CAST(:pattern AS text))
ORDER BY
    array_position(ARRAY['REWIND', 'STOP', 'STALL', 'WARN', 'UNKNOWN', 'OK'], lag.status),
    lag.error IS NULL,
    lag.total_lag DESC NULLS LAST,
    lag.cluster,
    lag.group_id;
