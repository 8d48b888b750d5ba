-- One row per incident of a group or of the pipeline (group_id is null), open ones included: what was wrong, from when to when,
-- when people were told. kind is the worst that was seen, causes all that was wrong when it was last seen, the worst first.
--
-- Columns as in: incident.
-- Its own columns:
--   began_at timestamptz                     When it began, as far as is known.
--   is_open boolean                          Whether it is open now.
--   duration_seconds double precision        Seconds from its beginning until it was over, or until now.
--   seconds_to_told double precision = none  Seconds from its beginning until its message arrived; null: nobody was told.
--   causes text[]                            All that was wrong when it was last seen, the worst first.
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
        AS seconds_to_told,
    incident.summary,
    CASE
        WHEN jsonb_array_length(incident.causes) = 0 THEN ARRAY[incident.kind]
        ELSE ARRAY(SELECT each ->> 'cause' FROM jsonb_array_elements(incident.causes) AS listed (each))
    END AS causes
FROM incident;
