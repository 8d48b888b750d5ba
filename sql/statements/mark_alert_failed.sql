-- An attempt to deliver an alert has failed; the alert stays pending and may be tried again at once.
--
-- Parameters:
--   :error text       Why it failed.
--   :alert_id bigint  The alert.
UPDATE alert
SET message = message - 'attempted_at', last_error = CAST(:error AS text)
WHERE alert_id = CAST(:alert_id AS bigint) AND state = 'pending';
