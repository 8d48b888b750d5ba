-- One row per group of the newest snapshot with metrics of each cluster: diagnosis, time lag, advice, open incident,
-- silence and age. diagnosis_since is the first known snapshot with the diagnosis. If diagnosis_already_so is true,
-- the diagnosis may be older.
--
-- Columns as in: group_metrics, advice.
-- Its own columns:
--   diagnosis_since timestamptz           Start of the first snapshot with the diagnosis; null if not stored yet.
--   diagnosis_already_so boolean          True if the first snapshot of the group shows the diagnosis, so that it may be older.
--   group_state text                      State of the group as reported by the broker.
--   busiest_utilization double precision  Incoming rate divided by capacity of the busiest member, as far as known; above 1 it falls behind.
--   verdict text = none                   Newest verdict: switch, stay or not evaluated; null without advice.
--   advice_state text = none              State of its newest advice: proposed, confirmed, adopted, verified, missed, withdrawn, expired.
--   advice_state_since timestamptz        Start of that state.
--   advised_on timestamptz                Start of the snapshot of its newest advice.
--   incident text = none                  Most severe cause of its open incident; null without an open incident.
--   incident_severity text = none         Severity of that incident; null without an open incident.
--   incident_since timestamptz            Start of that incident, as far as known.
--   incident_notified_at timestamptz      Time of its first delivered notification; null if there was none.
--   quiet text = none                     Reason that notifications are muted: silence, ack or maintenance; null if they are not.
--   quiet_until timestamptz               End of the mute; null if it ends with the incident.
--   quiet_by text = none                  Author of the silence.
--   quiet_reason text = none              Reason of the silence.
--   owner text                            Owner at its newest advice, otherwise at its newest incident; null if unknown.
CREATE OR REPLACE VIEW group_status AS
SELECT
    lag.cluster,
    lag.group_id,
    lag.taken_at,
    lag.age_seconds,
    lag.status,
    lag.diagnosis,
    lag.diagnosis_reason,
    span.since AS diagnosis_since,
    span.already_so AS diagnosis_already_so,
    lag.error,
    lag.group_type,
    lag.state AS group_state,
    lag.members,
    lag.partitions,
    lag.total_lag,
    lag.delay_seconds,
    lag.time_lag_seconds,
    (
        SELECT max(member.utilization) FROM member_metrics AS member
        WHERE member.snapshot_id = lag.snapshot_id AND member.group_id = lag.group_id
    ) AS busiest_utilization,
    lag.production_per_second,
    lag.consumption_per_second,
    lag.cross_rack_share,
    lag.cross_rack_cost_per_month,
    lag.currency,
    advice.verdict,
    advice.strategy,
    advice.state AS advice_state,
    advice.state_since AS advice_state_since,
    advice.taken_at AS advised_on,
    incident.kind AS incident,
    incident.severity AS incident_severity,
    coalesce(incident.began_at, incident.opened_at) AS incident_since,
    incident.notified_at AS incident_notified_at,
    quiet.kind AS quiet,
    quiet.ends_at AS quiet_until,
    quiet.who AS quiet_by,
    quiet.reason AS quiet_reason,
    coalesce(
        advice.owner,
        incident.owner,
        (
            SELECT earlier.owner FROM incident AS earlier
            WHERE earlier.cluster = lag.cluster AND earlier.group_id = lag.group_id
            ORDER BY earlier.opened_at DESC LIMIT 1
        )
    ) AS owner
FROM latest_lag AS lag
LEFT JOIN diagnosis_span AS span
    ON
        span.cluster = lag.cluster
        AND span.group_id = lag.group_id
        AND span.until IS NULL
        AND span.diagnosis = coalesce(lag.diagnosis, 'unknown')
LEFT JOIN latest_advice AS advice ON advice.cluster = lag.cluster AND advice.group_id = lag.group_id
LEFT JOIN incident
    ON incident.cluster = lag.cluster AND incident.group_id = lag.group_id AND incident.closed_at IS NULL
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
        AND lag.cluster ~ silence.cluster_regex
        AND lag.group_id ~ silence.groups_regex
        AND (silence.kind <> 'ack' OR incident.opened_at <= silence.starts_at)
    ORDER BY silence.kind = 'ack', silence.ends_at DESC NULLS FIRST
    LIMIT 1
) AS quiet ON TRUE;
