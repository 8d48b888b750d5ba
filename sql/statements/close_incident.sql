-- Close an incident and queue the alert about its end; an opening that was never sent is superseded by it.
-- A row comes back if it was open until now.
--
-- Parameters:
--   :now timestamptz     The moment of looking.
--   :incident_id bigint  The incident.
--   :alert_kind text     What sort of message it is.
--   :channel text        Where it is to be said.
--   :message jsonb       What is to be said; null for nothing.
WITH closed AS (
    UPDATE incident
    SET closed_at = CAST(:now AS timestamptz)
    WHERE incident_id = CAST(:incident_id AS bigint) AND closed_at IS NULL
    RETURNING incident_id, cluster
),

superseded AS (
    UPDATE alert
    SET state = 'superseded'
    FROM closed
    WHERE alert.incident_id = closed.incident_id AND alert.state = 'pending'
)

INSERT INTO alert (key, cluster, incident_id, kind, channel, message, state, attempts, created_at)
SELECT
    'incident ' || closed.incident_id || ' closed',
    closed.cluster,
    closed.incident_id,
    CAST(:alert_kind AS text),
    CAST(:channel AS text),
    CAST(:message AS jsonb),
    'pending',
    0,
    CAST(:now AS timestamptz)
FROM closed
RETURNING alert_id;
