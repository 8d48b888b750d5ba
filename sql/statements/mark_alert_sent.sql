-- Marks an alert as delivered, with its location, and its incidents as notified.
--
-- Parameters:
--   :sent_channel text    Id of the channel at the chat program.
--   :sent_timestamp text  Id of the message at the chat program.
--   :alert_id bigint      Number of the alert.
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
