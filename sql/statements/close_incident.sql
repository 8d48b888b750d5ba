-- Close an incident; where its opening was told, or is to be told. No row comes back if it was not open until now.
--
-- Parameters:
--   :now timestamptz     The moment of looking.
--   :incident_id bigint  The incident.
WITH closed AS (
    UPDATE incident
    SET closed_at = CAST(:now AS timestamptz)
    WHERE incident_id = CAST(:incident_id AS bigint) AND closed_at IS NULL
    RETURNING incident_id
)

SELECT coalesce(array_agg(a.channel ORDER BY a.alert_id) FILTER (WHERE a.channel IS NOT NULL), '{}') AS opened
FROM closed
LEFT JOIN alert AS a
    ON
        a.incident_id = closed.incident_id
        AND a.answers IS NULL
        AND a.replaces IS NULL
        AND a.state <> 'superseded'
GROUP BY closed.incident_id;
