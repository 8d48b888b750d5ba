-- The advice for the groups of a cluster in its newest advised snapshot: one row per group.
--
-- Parameters:
--   :cluster text              Configured name of the cluster.
--   :group text = null         Consumer group; null for all matching groups.
--   :groups_regex text = null  Regular expression of group ids; null for all groups.
SELECT
    advice.group_id,
    advice.verdict,
    advice.strategy,
    advice.reason,
    advice.how,
    advice.state,
    advice.state_since,
    advice.best_undeployable,
    advice.best_undeployable_reason
FROM latest_advice AS advice
WHERE
    advice.cluster = CAST(:cluster AS text)
    AND (CAST(:group AS text) IS NULL OR advice.group_id = CAST(:group AS text))
    AND (CAST(:groups_regex AS text) IS NULL OR advice.group_id ~ CAST(:groups_regex AS text));
