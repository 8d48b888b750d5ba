-- The pending alerts of some clusters: number, age, channels and last error. Alerts about unsent alerts don't count,
-- because they would keep their own incident open.
--
-- Parameters:
--   :clusters text[]  Configured names of clusters.
SELECT
    a.cluster,
    count(*) AS unsent,
    min(a.created_at) AS oldest_unsent_at,
    array_agg(DISTINCT a.channel) AS unsent_channels,
    (array_agg(a.last_error ORDER BY a.alert_id) FILTER (WHERE a.last_error IS NOT NULL))[1]
        AS unsent_error
FROM alert AS a
WHERE a.cluster = any(CAST(:clusters AS text[]))
    AND a.state = 'pending'
    AND a.message #>> '{subject,cause}' IS DISTINCT FROM 'alerts unsent'
GROUP BY a.cluster
ORDER BY a.cluster;
