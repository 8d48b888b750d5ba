-- The advice of a snapshot with its scores, one row per group. running: whether the group runs each strategy, as JSON;
-- null if unknown. live, proposed: candidate rows of the live and of the advised assignment as JSON. metrics: metrics
-- of the group. checks: forecast checks of the last adopted advice, as a JSON list of the columns of advice_check.
-- members: for a switch, the members as a JSON list of {id, client_id, host, instance_id}; otherwise null.
--
-- Parameters:
--   :snapshot_id text       Id of the snapshot.
--   :states text[] = null   States of the advice; null for all advice.
SELECT
    a.*,
    to_jsonb(live) AS live,
    to_jsonb(proposed) AS proposed,
    to_jsonb(m) AS metrics,
    (
        SELECT jsonb_object_agg(c.strategy, c.is_running)
        FROM candidate AS c
        WHERE c.snapshot_id = a.snapshot_id AND c.group_id = a.group_id
    ) AS running,
    (
        SELECT jsonb_agg(to_jsonb(c) ORDER BY c.after_seconds, c.measure DESC)
        FROM advice_check AS c
        INNER JOIN advice AS checking ON checking.advice_id = c.advice_id
        WHERE a.course #> '{uptakes, -1}' IS NOT NULL -- skips the search otherwise
            AND checking.cluster = a.cluster
            AND checking.group_id = a.group_id
            AND checking.advice_id <= a.advice_id
            AND c.adopted_at = CAST(a.course #>> '{uptakes, -1, at}' AS timestamptz)
    ) AS checks,
    (
        SELECT
            jsonb_agg(
                jsonb_build_object(
                    'id', mm.member_id,
                    'client_id', mm.client_id,
                    'host', mm.client_host,
                    'instance_id', mm.instance_id
                )
                ORDER BY mm.member_id
            )
        FROM member_metrics AS mm
        WHERE mm.snapshot_id = a.snapshot_id AND mm.group_id = a.group_id AND a.verdict = 'switch'
    ) AS members
FROM advice AS a
LEFT JOIN candidate AS live
    ON live.snapshot_id = a.snapshot_id AND live.group_id = a.group_id AND live.strategy = 'live'
LEFT JOIN candidate AS proposed
    ON proposed.snapshot_id = a.snapshot_id
    AND proposed.group_id = a.group_id
    AND proposed.strategy = a.strategy
LEFT JOIN group_metrics AS m ON m.snapshot_id = a.snapshot_id AND m.group_id = a.group_id
WHERE
    a.snapshot_id = CAST(:snapshot_id AS text)
    AND (CAST(:states AS text []) IS NULL OR a.state = ANY(CAST(:states AS text [])))
ORDER BY a.group_id;
