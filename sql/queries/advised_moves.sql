-- Which partitions would change hands if a group followed the advice it has now? One row per partition.
--
-- Parameters:
--   :group text           The consumer group.
--   :cluster text = null  Configured name of the cluster; null: every cluster.
--
-- Columns as in: advice_move, latest_advice.
SELECT
    advice.cluster,
    advice.strategy,
    move.topic,
    move.partition,
    move.from_member,
    move.to_member,
    advice.age_seconds
FROM latest_advice AS advice
INNER JOIN advice_move AS move ON move.advice_id = advice.advice_id
WHERE
    advice.group_id = CAST(:group AS text)
    AND (CAST(:cluster AS text) IS NULL OR advice.cluster = CAST(:cluster AS text))
ORDER BY advice.cluster, move.topic, move.partition;
