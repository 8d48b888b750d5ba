-- Which steps of the pipeline failed, and why? One row per failed run, newest first.
--
-- Parameters:
--   :cluster text = null            Configured name of the cluster; null for all clusters, and for steps of all clusters.
--   :hours double precision = 24    Length of the period in hours.
--   :until timestamptz = null       End of the period; null for now.
--
-- Columns as in: step_run.
-- Its own columns:
--   duration_seconds double precision  Duration of the run in seconds.
SELECT
    cluster,
    step,
    started_at,
    extract(epoch FROM finished_at - started_at)::double precision AS duration_seconds,
    error,
    snapshot_id
FROM step_run
WHERE
    outcome = 'failed'
    AND (CAST(:cluster AS text) IS NULL OR cluster = CAST(:cluster AS text))
    AND started_at <= coalesce(CAST(:until AS timestamptz), now())
    AND started_at >= coalesce(CAST(:until AS timestamptz), now())
    - make_interval(secs => 3600 * CAST(:hours AS double precision))
ORDER BY started_at DESC, step_run_id DESC;
