-- One row per group of the newest measured snapshot of each cluster: what is the matter with it and since when, how far it is
-- behind, what it is advised, what incident is open, whether that is quiet, and how old all that is. diagnosis_since goes
-- back as far as evenkeel has looked: with diagnosis_already_so it may be so for longer; null: not noted yet.
--
-- Columns as in: group_metrics, advice.
-- Its own columns:
--   diagnosis_since timestamptz           When the first snapshot was taken that shows it so; null: not noted yet.
--   diagnosis_already_so boolean          Whether it was so already when it was first looked at: then it may be so for longer.
--   group_state text                      State of the group, as the broker names it.
--   busiest_utilisation double precision  What arrives at its busiest member over what that can consume, as far as known; above 1 it falls behind.
--   verdict text = none                   What it was told last: switch, stay or not evaluated; null: nothing yet.
--   advice_state text = none              How far its newest advice has come: proposed, confirmed, adopted, verified, missed, withdrawn, expired.
--   advice_state_since timestamptz        Since when it is in that state.
--   advised_on timestamptz                When the reading of the snapshot began that its advice is of.
--   incident text = none                  What is wrong with it, the worst that was seen; null: no incident is open.
--   incident_severity text = none         How bad that is; null: no incident is open.
--   incident_since timestamptz            When that began, as far as is known.
--   incident_notified_at timestamptz          When its message first arrived; null: nobody has been told.
--   quiet text = none                     Why nothing is told of it now: silence, ack or maintenance; null: it is told.
--   quiet_until timestamptz               Until when; null: while its incident is open.
--   quiet_by text = none                  Who wanted it so.
--   quiet_reason text = none              Why, in their words.
--   owner text                            Who owned it when it was advised last, else at its newest incident; null: not known.
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
