-- The freshness of the snapshots of some clusters, one row per cluster, including clusters without a snapshot.
-- watched_since: time of the first step run of any cluster. outage_until: end of the newest outage of all clusters
-- (incidents of the cluster *). unwatched_since: end of the first snapshot after the last one whose groups were
-- evaluated. rejected_*, rejection: the newest validated snapshot and the reason, if it was rejected; otherwise null.
-- partial_snapshots, partial_since: number of the newest consecutive partial snapshots, and end of the first of them.
-- partial_problems: read errors of the newest snapshot. whole_snapshots: number of complete snapshots among the
-- newest two. unadvised, oldest_unadvised_*: snapshots without advice that are not rejected and newer than the newest
-- advised one. run_seconds: median time until advice was stored, over the last five runs. gap_seconds: mean interval
-- of the last ten snapshots.
--
-- Parameters:
--   :clusters text[]    Configured names of clusters.
--   :until timestamptz  Snapshots that began later are left out: a clock was ahead.
SELECT
    c.cluster,
    (SELECT min(r.started_at) FROM step_run AS r) AS watched_since,
    (SELECT max(o.closed_at) FROM incident AS o WHERE o.cluster = '*') AS outage_until,
    newest.snapshot_id AS newest_snapshot_id,
    newest.finished_at AS newest_finished_at,
    (
        SELECT min(s.finished_at)
        FROM snapshot AS s
        INNER JOIN incident_watch AS w ON s.cluster = w.cluster AND w.subject = 'groups' AND s.finished_at > w.at
        WHERE s.cluster = c.cluster
    ) AS unwatched_since,
    CASE WHEN judged.rejected THEN judged.snapshot_id END AS rejected_snapshot_id,
    CASE WHEN judged.rejected THEN judged.finished_at END AS rejected_at,
    CASE WHEN judged.rejected THEN judged.rejection END AS rejection,
    unread.partial_snapshots,
    unread.partial_since,
    CASE WHEN newest.partial THEN newest.problems ELSE '{}' END AS partial_problems,
    latest.whole_snapshots,
    waiting.unadvised,
    waiting.oldest_unadvised_id,
    waiting.oldest_unadvised_at,
    runs.run_seconds,
    gaps.gap_seconds
FROM unnest(CAST(:clusters AS text[])) AS c (cluster)
LEFT JOIN LATERAL (
    SELECT s.snapshot_id, s.finished_at, s.partial, s.problems
    FROM snapshot AS s
    WHERE s.cluster = c.cluster AND s.started_at <= CAST(:until AS timestamptz)
    ORDER BY s.started_at DESC
    LIMIT 1
) AS newest ON TRUE
CROSS JOIN LATERAL (
    SELECT count(*) AS partial_snapshots, min(s.finished_at) AS partial_since
    FROM snapshot AS s
    WHERE s.cluster = c.cluster
        AND s.started_at <= CAST(:until AS timestamptz)
        AND s.started_at > coalesce(
            (
                SELECT max(whole.started_at)
                FROM snapshot AS whole
                WHERE whole.cluster = c.cluster
                    AND NOT whole.partial
                    AND whole.started_at <= CAST(:until AS timestamptz)
            ),
            '-infinity'
        )
) AS unread
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE NOT two.partial) AS whole_snapshots
    FROM (
        SELECT s.partial
        FROM snapshot AS s
        WHERE s.cluster = c.cluster AND s.started_at <= CAST(:until AS timestamptz)
        ORDER BY s.started_at DESC
        LIMIT 2
    ) AS two
) AS latest
LEFT JOIN LATERAL (
    SELECT
        s.snapshot_id,
        s.finished_at,
        s.rejected,
        (
            SELECT string_agg(v.expectation || ': ' || coalesce(v.reason, 'failed'), '; ')
            FROM validation AS v
            WHERE v.snapshot_id = s.snapshot_id
                AND v.group_id IS NULL
                AND v.severity = 'critical'
                AND NOT v.success
        ) AS rejection
    FROM snapshot AS s
    WHERE s.cluster = c.cluster AND s.validated_at IS NOT NULL AND s.started_at <= CAST(:until AS timestamptz)
    ORDER BY s.started_at DESC
    LIMIT 1
) AS judged ON TRUE
CROSS JOIN LATERAL (
    SELECT
        count(*) AS unadvised,
        (array_agg(s.snapshot_id ORDER BY s.started_at))[1] AS oldest_unadvised_id,
        min(s.finished_at) AS oldest_unadvised_at
    FROM snapshot AS s
    WHERE s.cluster = c.cluster
        AND s.advised_at IS NULL
        AND s.rejected IS NOT TRUE
        AND s.started_at <= CAST(:until AS timestamptz)
        AND s.started_at > coalesce(
            (
                SELECT max(done.started_at)
                FROM snapshot AS done
                WHERE done.cluster = c.cluster
                    AND done.advised_at IS NOT NULL
                    AND done.started_at <= CAST(:until AS timestamptz)
            ),
            '-infinity'
        )
) AS waiting
CROSS JOIN LATERAL (
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY last.seconds) AS run_seconds
    FROM (
        SELECT extract(epoch FROM s.advised_at - s.adopted_at)::double precision AS seconds
        FROM snapshot AS s
        WHERE s.cluster = c.cluster AND s.advised_at > s.adopted_at AND s.started_at <= CAST(:until AS timestamptz)
        ORDER BY s.started_at DESC
        LIMIT 5
    ) AS last
) AS runs
CROSS JOIN LATERAL (
    SELECT
        extract(epoch FROM max(last.started_at) - min(last.started_at))::double precision
        / nullif(count(*) - 1, 0) AS gap_seconds
    FROM (
        SELECT s.started_at
        FROM snapshot AS s
        WHERE s.cluster = c.cluster AND s.started_at <= CAST(:until AS timestamptz)
        ORDER BY s.started_at DESC
        LIMIT 10
    ) AS last
) AS gaps
ORDER BY c.cluster;
