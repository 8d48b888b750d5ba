-- An attempt to deliver an alert has failed; the alert stays pending and may be tried again at once.
--
-- Parameters:
--   :error text       Why it failed.
--   :alert_id bigint  The alert.
update alert
set message = message - 'attempted_at', last_error = cast(:error as text)
where alert_id = cast(:alert_id as bigint) and state = 'pending';
