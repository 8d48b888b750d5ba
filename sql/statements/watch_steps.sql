-- The steps of some clusters whose newest runs failed: how many in a row, since when, and the last error.
--
-- Parameters:
--   :clusters text[]  Configured names of clusters.
SELECT
    r.cluster,
    r.step,
    count(*) AS failures,
    min(r.finished_at) AS failing_since,
    max(r.finished_at) AS last_failed_at,
    (array_agg(r.error ORDER BY r.started_at DESC))[1] AS error
FROM step_run AS r
LEFT JOIN (
    SELECT cluster, step, max(started_at) AS started_at
    FROM step_run
    WHERE outcome = 'ok'
    GROUP BY cluster, step
) AS good ON good.cluster = r.cluster AND good.step = r.step
WHERE r.cluster = any(CAST(:clusters AS text[]))
    AND r.outcome = 'failed'
    AND (good.started_at IS NULL OR r.started_at > good.started_at)
GROUP BY r.cluster, r.step
ORDER BY r.cluster, failing_since, r.step;
