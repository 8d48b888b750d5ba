-- One row per incident of a group or of the pipeline (group_id is null), including open ones: causes, period and time
-- of the notification. kind is the most severe cause so far. causes are those of the last snapshot that shows it,
-- most severe first.
--
-- Columns as in: incident.
-- Its own columns:
--   began_at timestamptz                     Start of the incident, as far as known.
--   is_open boolean                          True if it is open.
--   duration_seconds double precision        Seconds from its start to its end, or to now if it is open.
--   seconds_to_notified double precision = none  Seconds from its start to its first delivered notification; null if there was none.
--   causes text[]                            Causes at the last snapshot that shows it, most severe first.
CREATE OR REPLACE VIEW incident_history AS
SELECT
    incident.cluster,
    incident.group_id,
    incident.kind,
    incident.severity,
    incident.owner,
    coalesce(incident.began_at, incident.opened_at) AS began_at,
    incident.opened_at,
    incident.notified_at,
    incident.last_seen_at,
    incident.closed_at,
    incident.closed_at IS NULL AS is_open,
    extract(
        epoch FROM coalesce(incident.closed_at, now()) - coalesce(incident.began_at, incident.opened_at)
    )::double precision AS duration_seconds,
    extract(epoch FROM incident.notified_at - coalesce(incident.began_at, incident.opened_at))::double precision
        AS seconds_to_notified,
    incident.summary,
    CASE
        WHEN jsonb_array_length(incident.causes) = 0 THEN ARRAY[incident.kind]
        ELSE ARRAY(SELECT each ->> 'cause' FROM jsonb_array_elements(incident.causes) AS listed (each))
    END AS causes
FROM incident;
