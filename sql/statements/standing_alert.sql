-- The newest alert that is a message or replaces it, except alerts that only show an acknowledgement.
--
-- Parameters:
--   :key text  Key of the message as first posted.
SELECT *
FROM alert
WHERE
    (key = CAST(:key AS text) OR replaces = CAST(:key AS text))
    AND starts_with(key, 'ack ') IS FALSE
ORDER BY alert_id DESC
LIMIT 1;
