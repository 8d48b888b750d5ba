-- The alerts with given keys, the alerts that they replaced, and all alerts that replace or answer the same messages;
-- locked until the transaction ends.
--
-- Parameters:
--   :keys text[]  Keys of the alerts.
WITH named AS (
    SELECT CAST(:keys AS text []) || array_agg(replaces) FILTER (WHERE replaces IS NOT NULL) AS keys
    FROM alert
    WHERE key = ANY(CAST(:keys AS text []))
)

SELECT a.*
FROM alert AS a
WHERE
    a.key = ANY((SELECT keys FROM named)::text [])
    OR a.replaces = ANY((SELECT keys FROM named)::text [])
    OR a.answers = ANY((SELECT keys FROM named)::text [])
ORDER BY a.alert_id
FOR UPDATE OF a;
