-- The state changes of advice in a period: one row per event, oldest first.
--
-- Parameters:
--   :cluster text              Configured name of the cluster.
--   :since timestamptz         Start of the period.
--   :group text = null         Consumer group; null for all matching groups.
--   :groups_regex text = null  Regular expression of group ids; null for all groups.
SELECT
    advice.group_id,
    event.at AS taken_at,
    event.state AS event,
    event.strategy AS event_strategy,
    event.cause AS event_cause
FROM advice_event AS event
INNER JOIN advice ON advice.advice_id = event.advice_id
WHERE
    advice.cluster = CAST(:cluster AS text)
    AND event.at >= CAST(:since AS timestamptz)
    AND (CAST(:group AS text) IS NULL OR advice.group_id = CAST(:group AS text))
    AND (CAST(:groups_regex AS text) IS NULL OR advice.group_id ~ CAST(:groups_regex AS text))
ORDER BY event.at, advice.group_id, event.state <> 'adopted';
