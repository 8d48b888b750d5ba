-- One row per group of the newest measured snapshot of each cluster: what is the matter with it and since when, how far it is
-- behind, what it is advised, what incident is open, whether that is quiet, and how old all that is. diagnosis_since goes
-- back as far as evenkeel has looked: with diagnosis_already_so it may be so for longer; null: not noted yet.
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
        SELECT max(member.utilisation) FROM member_metrics AS member
        WHERE member.snapshot_id = lag.snapshot_id AND member.group_id = lag.group_id
    ) AS busiest_utilisation,
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
    incident.told_at AS incident_told_at,
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
    -- as `incidents.quiet` has it: what holds longest, an ack only where there is nothing else
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
