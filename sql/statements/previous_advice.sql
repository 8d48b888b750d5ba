-- The state of the advice of each group before a snapshot: one row per group with advice in the newest advised
-- snapshot before it (or the newest complete one), or with metrics in the snapshot itself. A group that was missing
-- for some time continues with its last state.
--
-- Parameters:
--   :cluster text      Configured name of the cluster.
--   :snapshot_id text  Id of the snapshot, which may be missing in the history database.
WITH before AS (
    (
        SELECT snapshot_id
        FROM snapshot
        WHERE cluster = :cluster AND advised_at IS NOT NULL AND snapshot_id < CAST(:snapshot_id AS text) COLLATE "C"
        ORDER BY started_at DESC, snapshot_id DESC
        LIMIT 1
    )
    UNION
    (
        SELECT snapshot_id
        FROM snapshot
        WHERE
            cluster = :cluster
            AND advised_at IS NOT NULL
            AND NOT partial
            AND snapshot_id < CAST(:snapshot_id AS text) COLLATE "C"
        ORDER BY started_at DESC, snapshot_id DESC
        LIMIT 1
    )
),

named AS (
    SELECT advice.group_id
    FROM before
    INNER JOIN advice ON advice.snapshot_id = before.snapshot_id
    UNION
    SELECT group_id FROM group_metrics
    WHERE snapshot_id = CAST(:snapshot_id AS text)
)

SELECT
    named.group_id,
    newest.course
FROM named
CROSS JOIN LATERAL (
    SELECT advice.course
    FROM advice
    WHERE
        advice.group_id = named.group_id
        AND advice.cluster = CAST(:cluster AS text)
        AND advice.snapshot_id < CAST(:snapshot_id AS text) COLLATE "C"
    ORDER BY advice.snapshot_id DESC
    LIMIT 1
) AS newest
ORDER BY named.group_id;
