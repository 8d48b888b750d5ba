-- An alert has been delivered: where it is now. The incidents that it stands for have been told.
--
-- Parameters:
--   :sent_channel text    The messenger's own id of where it is.
--   :sent_timestamp text  The messenger's own id of the message.
--   :alert_id bigint      The alert.
UPDATE incident
SET notified_at = now()
WHERE incident_id IN (
    SELECT i.incident_id
    FROM incident AS i
    INNER JOIN alert ON i.alert_key IN (alert.key, alert.replaces)
    WHERE alert.alert_id = CAST(:alert_id AS bigint) AND i.notified_at IS NULL
    ORDER BY i.incident_id
    FOR UPDATE OF i
);

UPDATE alert
SET state = 'sent',
    sent_at = now(),
    sent_channel = CAST(:sent_channel AS text),
    sent_timestamp = CAST(:sent_timestamp AS text),
    attempted_at = NULL,
    last_error = NULL
WHERE alert_id = CAST(:alert_id AS bigint);
