-- An attempt to deliver an alert has failed; the alert stays pending and may be tried again at once.
--
-- Parameters:
--   :error text       Why it failed.
--   :unsure boolean   Whether the message may be there after all.
--   :alert_id bigint  The alert.
UPDATE alert
SET attempted_at = NULL, unsure = unsure OR CAST(:unsure AS boolean), last_error = CAST(:error AS text)
WHERE alert_id = CAST(:alert_id AS bigint) AND state = 'pending';
