-- How far the advice of each group had come before a snapshot: one row per group that the newest advised snapshot before
-- it has advice for (or the newest that was not partial), or that the snapshot itself has metrics of. A group that was
-- missing for a while goes on where it was.
--
-- Parameters:
--   :cluster text      Configured name of the cluster.
--   :snapshot_id text  The snapshot; it need not be in the history.
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
