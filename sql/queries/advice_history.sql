-- What were groups told, and why? One row per group and time in which it was told the same, the newest first: from `since` `until`
-- when, null where it is told so still. The words are those of the first snapshot then, and so is `seen`, the consecutive
-- snapshots in which the strategy had won; `state` is how far the advice had come, since `state_since`.
--
-- Parameters:
--   :cluster text = null   Configured name of the cluster; null: every cluster.
--   :group text = null     The consumer group; null: every group.
--   :verdict text = null   switch, stay or 'not evaluated'; null: every verdict.
--   :limit integer = 50    How many rows at most.
--
-- Columns as in: advice_history.
SELECT
    told.cluster,
    told.group_id,
    told.since,
    told.until,
    told.verdict,
    told.strategy,
    told.reason,
    told.how,
    told.best_undeployable,
    told.best_undeployable_reason,
    told.seen,
    told.state,
    told.state_since,
    told.moves,
    told.snapshot_id
FROM advice_history AS told
WHERE
    (CAST(:cluster AS text) IS NULL OR told.cluster = CAST(:cluster AS text))
    AND (CAST(:group AS text) IS NULL OR told.group_id = CAST(:group AS text))
    AND (CAST(:verdict AS text) IS NULL OR told.verdict = CAST(:verdict AS text))
ORDER BY told.since DESC, told.cluster, told.group_id
LIMIT CAST(:limit AS integer);
