-- What became of what groups were advised? One row per state that an advice reached, the newest first: proposed,
-- confirmed (the group is advised to switch), taken up, verified, missed, withdrawn or expired.
--
-- Parameters:
--   :cluster text = null   Configured name of the cluster; null: every cluster.
--   :group text = null     The consumer group; null: every group.
--   :limit integer = 50    How many rows at most.
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
