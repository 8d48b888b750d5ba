-- What is the status of every group? One row per group of the newest snapshot with metrics, worst first: critical
-- incidents, then other ones, then the worst status, then the largest lag. The order of status is REWIND, STOP, STALL,
-- WARN, groups that could not be read (error is not null), UNKNOWN, OK. advised_on is the snapshot of the newest
-- advice, which may be the previous one. Lag is in offsets, time lag in seconds, cross_rack_share a fraction of 1. Null
-- is unknown, except that there is no skew without lag, and no skew or share without members or in a share group.
--
-- Parameters:
--   :cluster text = null  Configured name of the cluster; null for all clusters.
--   :group text = null    Consumer group; null for all groups.
--   :pattern text = null  SQL pattern of group ids, such as 'orders%'; null for all groups.
--
-- Columns as in: latest_lag, latest_advice, group_status.
-- Its own columns:
--   lasting_seconds double precision = none where incident  Seconds since the start of its open incident.
--   advised_on timestamptz                                  Start of the snapshot of its newest advice.
SELECT
    lag.cluster,
    lag.group_id,
    lag.total_lag,
    lag.time_lag_seconds,
    incident.kind AS incident,
    extract(
        epoch FROM now() - coalesce(incident.began_at, incident.opened_at)
    )::double precision AS lasting_seconds,
    advice.verdict,
    advice.strategy,
    lag.diagnosis,
    lag.status,
    lag.members,
    lag.partitions,
    lag.diagnosis_reason,
    coalesce(incident.began_at, incident.opened_at) AS incident_since,
    incident.severity AS incident_severity,
    lag.error,
    lag.state,
    lag.group_type,
    lag.assignor,
    lag.lag_skew,
    lag.cross_rack_share,
    advice.reason,
    advice.best_undeployable,
    advice.best_undeployable_reason,
    lag.findings || coalesce(live.findings, '{}') AS findings,
    lag.taken_at,
    advice.taken_at AS advised_on,
    lag.age_seconds
FROM latest_lag AS lag
LEFT JOIN candidate AS live
    ON live.snapshot_id = lag.snapshot_id AND live.group_id = lag.group_id AND live.strategy = 'live'
LEFT JOIN latest_advice AS advice ON advice.cluster = lag.cluster AND advice.group_id = lag.group_id
LEFT JOIN incident
    ON incident.cluster = lag.cluster AND incident.group_id = lag.group_id AND incident.closed_at IS NULL
WHERE
    (CAST(:cluster AS text) IS NULL OR lag.cluster = CAST(:cluster AS text))
    AND (CAST(:group AS text) IS NULL OR lag.group_id = CAST(:group AS text))
    AND (CAST(:pattern AS text) IS NULL OR lag.group_id LIKE CAST(:pattern AS text))
ORDER BY
    array_position(ARRAY['critical', 'warning'], incident.severity),
    array_position(ARRAY['REWIND', 'STOP', 'STALL', 'WARN', 'UNKNOWN', 'OK'], lag.status),
    lag.error IS NULL,
    lag.total_lag DESC NULLS LAST,
    lag.cluster,
    lag.group_id;
