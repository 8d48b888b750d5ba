-- The newest alert that is a message or replaces it, but for those that only show that it is acknowledged.
--
-- Parameters:
--   :key text  Key of the message as it was first posted.
SELECT *
FROM alert
WHERE
    (key = CAST(:key AS text) OR replaces = CAST(:key AS text))
    AND starts_with(key, 'ack ') IS FALSE
ORDER BY alert_id DESC
LIMIT 1;
