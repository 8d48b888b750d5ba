-- What was each group advised, and why? One row per group and period with the same advice, newest first. The period
-- starts at `since` and ends at `until`, which is null while the advice is current. Reason and `seen` are
-- those of its first snapshot. `state` is the state of the advice since `state_since`.
--
-- Parameters:
--   :cluster text = null   Configured name of the cluster; null for all clusters.
--   :group text = null     Consumer group; null for all groups.
--   :verdict text = null   switch, stay or 'not evaluated'; null for all verdicts.
--   :limit integer = 50    Maximum number of rows.
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
