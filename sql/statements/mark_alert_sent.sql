-- An alert has been delivered: where it is now.
--
-- Parameters:
--   :sent_channel text    The messenger's own id of where it is.
--   :sent_timestamp text  The messenger's own id of the message.
--   :alert_id bigint      The alert.
update alert
set state = 'sent',
    sent_at = now(),
    sent_channel = cast(:sent_channel as text),
    sent_timestamp = cast(:sent_timestamp as text),
    message = message - 'attempted_at',
    last_error = null
where alert_id = cast(:alert_id as bigint);
