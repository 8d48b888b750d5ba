-- Which partitions are reassigned if a group follows its current advice? One row per partition.
--
-- Parameters:
--   :group text           Consumer group.
--   :cluster text = null  Configured name of the cluster; null for all clusters.
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
