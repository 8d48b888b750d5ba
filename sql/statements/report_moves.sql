-- The partitions that are reassigned if groups follow their current advice: one row per partition, with its lag in
-- offsets in the newest snapshot with metrics. still_so: whether its owner in that snapshot is still the one in the
-- advice.
--
-- Parameters:
--   :cluster text              Configured name of the cluster.
--   :group text = null         Consumer group; null for all matching groups.
--   :groups_regex text = null  Regular expression of group ids; null for all groups.
SELECT
    advice.group_id,
    move.topic,
    move.partition,
    move.from_member,
    move.to_member,
    owned.lag,
    owned.snapshot_id IS NOT NULL AND owned.member_id IS NOT DISTINCT FROM move.from_member AS still_so
FROM newest_snapshot AS newest
INNER JOIN latest_advice AS advice ON advice.cluster = newest.cluster
INNER JOIN advice_move AS move ON move.advice_id = advice.advice_id
LEFT JOIN partition_latest AS owned
    ON
        owned.snapshot_id = newest.measured
        AND owned.group_id = advice.group_id
        AND owned.topic = move.topic
        AND owned.partition = move.partition
WHERE
    newest.cluster = CAST(:cluster AS text)
    AND (CAST(:group AS text) IS NULL OR advice.group_id = CAST(:group AS text))
    AND (CAST(:groups_regex AS text) IS NULL OR advice.group_id ~ CAST(:groups_regex AS text))
ORDER BY advice.group_id, move.topic, move.partition;
