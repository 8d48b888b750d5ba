-- What each of some groups was told as of a snapshot, and how far its advice had come before: one row per group that was told
-- something by then. judged is null where it was told something else than before, and how far it had come just before is
-- not kept any more.
--
-- Parameters:
--   :cluster text      Configured name of the cluster.
--   :snapshot_id text  The snapshot; it need not be in the history.
--   :group_ids text[]  The groups.
WITH previous AS (
    SELECT max(snapshot_id COLLATE "C") AS snapshot_id
    FROM snapshot
    WHERE
        cluster = CAST(:cluster AS text)
        AND advised_at IS NOT NULL
        AND snapshot_id < CAST(:snapshot_id AS text) COLLATE "C"
)

SELECT
    given.group_id,
    CASE
        WHEN newest.snapshot_id <> CAST(:snapshot_id AS text) OR coalesce(before.snapshot_id = previous.snapshot_id, TRUE)
            THEN newest.verdict <> 'not judged'
    END AS judged,
    newest.strategy,
    before.course
FROM unnest(CAST(:group_ids AS text[])) AS given (group_id)
CROSS JOIN previous
CROSS JOIN LATERAL (
    SELECT
        advice.snapshot_id,
        advice.verdict,
        advice.strategy
    FROM advice
    WHERE
        advice.group_id = given.group_id
        AND advice.cluster = CAST(:cluster AS text)
        AND advice.snapshot_id <= CAST(:snapshot_id AS text) COLLATE "C"
    ORDER BY advice.snapshot_id DESC
    LIMIT 1
) AS newest
LEFT JOIN LATERAL (
    SELECT
        advice.snapshot_id,
        advice.course
    FROM advice
    WHERE
        advice.group_id = given.group_id
        AND advice.cluster = CAST(:cluster AS text)
        AND advice.snapshot_id < CAST(:snapshot_id AS text) COLLATE "C"
    ORDER BY advice.snapshot_id DESC
    LIMIT 1
) AS before ON TRUE;
