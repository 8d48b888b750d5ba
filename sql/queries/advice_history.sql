-- What were groups told, and why? One row per group and snapshot, the newest first. `seen` counts the consecutive
-- snapshots in which the strategy won; `state` is how far the advice has come, since `state_since`.
--
-- Parameters:
--   :cluster text = null   Configured name of the cluster; null: every cluster.
--   :group text = null     The consumer group; null: every group.
--   :verdict text = null   switch, stay or 'not judged'; null: every verdict.
--   :limit integer = 50    How many rows at most.
SELECT
    advice.cluster,
    advice.group_id,
    advice.verdict,
    advice.strategy,
    advice.reason,
    advice.how,
    advice.yardstick,
    advice.yardstick_reason,
    advice.seen,
    advice.state,
    advice.state_since,
    (SELECT count(*) FROM advice_move WHERE advice_move.advice_id = advice.advice_id) AS moves,
    snapshot.started_at AS taken_at,
    advice.snapshot_id
FROM advice
INNER JOIN snapshot ON snapshot.snapshot_id = advice.snapshot_id
WHERE
    (CAST(:cluster AS text) IS NULL OR advice.cluster = CAST(:cluster AS text))
    AND (CAST(:group AS text) IS NULL OR advice.group_id = CAST(:group AS text))
    AND (CAST(:verdict AS text) IS NULL OR advice.verdict = CAST(:verdict AS text))
ORDER BY snapshot.started_at DESC, advice.snapshot_id, advice.group_id
LIMIT CAST(:limit AS integer);
