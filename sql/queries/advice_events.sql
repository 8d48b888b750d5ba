-- What happened to each advice? One row per state change, newest first: proposed, confirmed (a switch is advised),
-- adopted, verified, missed, withdrawn or expired.
--
-- Parameters:
--   :cluster text = null   Configured name of the cluster; null for all clusters.
--   :group text = null     Consumer group; null for all groups.
--   :limit integer = 50    Maximum number of rows.
--
-- Columns as in: advice_event, advice.
SELECT
    advice.cluster,
    advice.group_id,
    event.at,
    event.strategy,
    event.state,
    event.cause,
    event.diagnosis,
    advice.snapshot_id
FROM advice_event AS event
INNER JOIN advice ON advice.advice_id = event.advice_id
WHERE
    (CAST(:cluster AS text) IS NULL OR advice.cluster = CAST(:cluster AS text))
    AND (CAST(:group AS text) IS NULL OR advice.group_id = CAST(:group AS text))
ORDER BY event.at DESC, advice.cluster, advice.group_id, event.state = 'adopted'
LIMIT CAST(:limit AS integer);
