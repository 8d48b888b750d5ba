-- The failed steps of a cluster, or of all clusters, in a period: one row per step with its last failure, newest
-- first.
--
-- Parameters:
--   :cluster text       Configured name of the cluster.
--   :since timestamptz  Start of the period.
SELECT
    step,
    count(*) AS failures,
    max(started_at) AS last_failed_at,
    (array_agg(error ORDER BY started_at DESC, step_run_id DESC))[1] AS error
FROM step_run
WHERE
    outcome = 'failed'
    AND (cluster = CAST(:cluster AS text) OR cluster IS NULL)
    AND started_at >= CAST(:since AS timestamptz)
GROUP BY step
ORDER BY last_failed_at DESC, step;
