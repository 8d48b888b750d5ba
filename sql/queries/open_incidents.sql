-- Which incidents are open now? One row per open incident of a group or of the pipeline (group_id is null), critical
-- ones first, then longest. total_lag and time_lag_seconds are those of the newest snapshot. causes are all causes,
-- most severe first; kind is the most severe one so far. quiet is the reason that notifications are muted: silence, ack
-- or maintenance; null if they are not.
--
-- Parameters:
--   :cluster text = null  Configured name of the cluster; null for all clusters.
--   :group text = null    Consumer group; null for all groups and the pipeline.
--
-- Columns as in: incident_history, group_status.
-- Its own columns:
--   lasting_seconds double precision                         Seconds since its start.
--   total_lag bigint = none where group_id                   Lag of the group in the newest snapshot.
--   quiet text = none                                        Reason that notifications are muted; null if they are not.
--   began_at timestamptz                                     Start of the incident, as far as known.
--   time_lag_seconds double precision = none where group_id  Age of the oldest unconsumed record in that snapshot.
--   summary text = none                                      Description of the problem.
--   quiet_until timestamptz                                  End of the mute; null if it ends with the incident.
--   causes text[]                                            All causes, most severe first.
SELECT
    incident.cluster,
    incident.group_id,
    incident.kind,
    extract(
        epoch FROM now() - coalesce(incident.began_at, incident.opened_at)
    )::double precision AS lasting_seconds,
    incident.severity,
    lag.total_lag,
    quiet.kind AS quiet,
    coalesce(incident.began_at, incident.opened_at) AS began_at,
    lag.time_lag_seconds,
    incident.owner,
    incident.notified_at,
    incident.summary,
    incident.opened_at,
    incident.last_seen_at,
    quiet.ends_at AS quiet_until,
    quiet.who AS quiet_by,
    quiet.reason AS quiet_reason,
    CASE
        WHEN jsonb_array_length(incident.causes) = 0 THEN ARRAY[incident.kind]
        ELSE ARRAY(SELECT each ->> 'cause' FROM jsonb_array_elements(incident.causes) AS listed (each))
    END AS causes,
    incident.good_snapshot_id,
    incident.facts
FROM incident
LEFT JOIN latest_lag AS lag ON lag.cluster = incident.cluster AND lag.group_id = incident.group_id
LEFT JOIN LATERAL (
    -- as in `incidents.quiet`: the longest silence, an ack only without another one
    SELECT
        silence.kind,
        silence.ends_at,
        silence.who,
        silence.reason
    FROM silence
    WHERE
        silence.starts_at <= now()
        AND coalesce(least(silence.ends_at, silence.ended_at), 'infinity') > now()
        AND incident.cluster ~ silence.cluster_regex
        AND (
            incident.group_id ~ silence.groups_regex
            -- a maintenance window of a whole cluster explains that it cannot be read
            OR (
                incident.group_id IS NULL
                AND silence.groups = '*'
                AND silence.kind <> 'ack'
                AND incident.kind IN ('cluster unreachable', 'snapshot stale', 'snapshots partial', 'snapshot rejected')
            )
        )
        AND (silence.kind <> 'ack' OR incident.opened_at <= silence.starts_at)
    ORDER BY silence.kind = 'ack', silence.ends_at DESC NULLS FIRST
    LIMIT 1
) AS quiet ON true
WHERE
    incident.closed_at IS NULL
    AND (CAST(:cluster AS text) IS NULL OR incident.cluster = CAST(:cluster AS text))
    AND (CAST(:group AS text) IS NULL OR incident.group_id = CAST(:group AS text))
ORDER BY incident.severity <> 'critical', began_at, incident.incident_id;
