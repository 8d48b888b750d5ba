-- An alert has been delivered: where it is now.
--
-- Parameters:
--   :sent_channel text    The messenger's own id of where it is.
--   :sent_timestamp text  The messenger's own id of the message.
--   :alert_id bigint      The alert.
UPDATE alert
SET state = 'sent',
    sent_at = now(),
    sent_channel = CAST(:sent_channel AS text),
    sent_timestamp = CAST(:sent_timestamp AS text),
    message = message - 'attempted_at',
    last_error = NULL
WHERE alert_id = CAST(:alert_id AS bigint);
