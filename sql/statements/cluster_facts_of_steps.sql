-- The steps of some clusters whose newest tries failed or were skipped: number of consecutive failures, number of
-- runs (tries of a run share a link), start, last error and link, and whether the last try was skipped because the
-- previous run was still active. A step of all clusters (maintain) is reported once, with the first of them. Failures
-- during an outage of all clusters (incidents of the cluster *) are explained by the outage; earlier failures
-- continue after it.
--
-- Parameters:
--   :clusters text[]  Configured names of clusters.
SELECT
    coalesce(r.cluster, (CAST(:clusters AS text[]))[1]) AS cluster,
    r.step,
    count(*) AS failures,
    count(DISTINCT coalesce(r.link, CAST(r.step_run_id AS text))) FILTER (WHERE r.outcome = 'failed') AS runs,
    min(r.finished_at) AS failing_since,
    max(r.finished_at) AS last_failed_at,
    (array_agg(r.error ORDER BY r.started_at DESC))[1] AS error,
    (array_agg(r.link ORDER BY r.started_at DESC))[1] AS link,
    (array_agg(r.outcome ORDER BY r.started_at DESC))[1] = 'skipped' AS skipped
FROM step_run AS r
LEFT JOIN (
    SELECT cluster, step, max(started_at) AS started_at
    FROM step_run
    WHERE outcome = 'ok'
    GROUP BY cluster, step
) AS good ON good.cluster IS NOT DISTINCT FROM r.cluster AND good.step = r.step
WHERE (r.cluster IS NULL OR r.cluster = any(CAST(:clusters AS text[])))
    AND r.outcome IN ('failed', 'skipped')
    AND (good.started_at IS NULL OR r.started_at > good.started_at)
    AND NOT EXISTS (
        SELECT 1 FROM incident AS o
        WHERE o.cluster = '*' AND r.finished_at >= coalesce(o.began_at, o.opened_at) AND r.started_at <= o.closed_at
    )
GROUP BY r.cluster, r.step
ORDER BY 1, failing_since, r.step;
