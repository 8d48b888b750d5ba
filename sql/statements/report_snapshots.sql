-- The newest snapshots of a cluster with their progress, oldest first.
--
-- Parameters:
--   :cluster text             Configured name of the cluster.
--   :since timestamptz = null Start of the period; null for no limit.
--   :limit integer            Maximum number of rows.
SELECT
    newest.started_at,
    newest.duration_seconds,
    newest.group_count,
    cardinality(newest.problems) AS problems,
    newest.skipped_groups,
    newest.rejected,
    newest.failed_steps,
    newest.seconds_to_advice,
    newest.state,
    newest.measured_at IS NOT NULL AS measured,
    (
        SELECT refused.reason FROM validation_history AS refused
        WHERE
            newest.rejected
            AND refused.snapshot_id = newest.snapshot_id
            AND refused.group_id IS NULL
            AND refused.severity = 'critical'
            AND NOT refused.success
        LIMIT 1
    ) AS rejection
FROM (
    SELECT health.*
    FROM snapshot_health AS health
    WHERE
        health.cluster = CAST(:cluster AS text)
        AND (CAST(:since AS timestamptz) IS NULL OR health.started_at >= CAST(:since AS timestamptz))
    ORDER BY health.started_at DESC, health.snapshot_id DESC
    LIMIT CAST(:limit AS integer)
) AS newest
ORDER BY newest.started_at, newest.snapshot_id;
