-- Which groups were worst this week? One row per group that was unhealthy or had an incident in the period, longest
-- unhealthy first. The period is the last seven days unless `since` says otherwise; its first and last hour count
-- completely. Whole days come from rolled-up days, which are kept longest, the hours at both ends from rolled-up hours.
-- `unhealthy_seconds` is the time with a known diagnosis other than "healthy", `diagnosis` the one of those that lasted
-- longest. Peaks are those of all snapshots. `lost_records` sums what incidents last showed; it is null if an incident
-- with data loss no longer shows how much.
--
-- Parameters:
--   :cluster text = null        Configured name of the cluster; null for all clusters.
--   :group text = null          Consumer group; null for all groups.
--   :since timestamptz = null   Start of the period; null for seven days before its end.
--   :until timestamptz = null   End of the period; null for now.
--   :limit integer = 20         Maximum number of rows.
--
-- Columns as in: group_metrics.
-- Its own columns:
--   unhealthy_seconds double precision      Seconds with an unhealthy diagnosis.
--   peak_lag bigint                         Highest lag.
--   peak_time_lag_seconds double precision  Highest age of the oldest unconsumed record.
--   incidents bigint                        Number of incidents that were open in the period.
--   notified bigint                         Number of those that were notified.
--   lost_records bigint (offsets)           Number of offsets that retention deleted unread, as far as incidents show.
--   diagnosis text = none                   Unhealthy diagnosis that lasted longest; null if there was none.
--   first_at timestamptz = none             Start of the first unhealthy diagnosis of the period; null if there was none.
--   last_at timestamptz = none              End of the last one; null while it lasts, or if there was none.
WITH period AS (
    SELECT
        coalesce(CAST(:since AS timestamptz), coalesce(CAST(:until AS timestamptz), now()) - interval '7 days') AS since,
        coalesce(CAST(:until AS timestamptz), now()) AS until
),

bounds AS (
    SELECT
        since,
        until,
        date_bin('1 hour', since, '2000-01-01 00:00:00+00') AS first_hour,
        date_bin('1 day', since + interval '24 hours' - interval '1 microsecond', '2000-01-01 00:00:00+00') AS first_day,
        date_bin('1 day', until, '2000-01-01 00:00:00+00') AS last_day
    FROM period
),

-- subqueries instead of a join: the planner then reads only the period, by the index of its start
counted AS (
    SELECT
        trend.cluster,
        trend.group_id,
        trend.highest_lag,
        trend.highest_time_lag_seconds,
        trend.diagnosis_seconds
    FROM group_lag_trend AS trend
    WHERE
        trend.per = 'day'
        AND trend.since >= (SELECT first_day FROM bounds)
        AND trend.since < (SELECT last_day FROM bounds)
    UNION ALL
    SELECT
        trend.cluster,
        trend.group_id,
        trend.highest_lag,
        trend.highest_time_lag_seconds,
        trend.diagnosis_seconds
    FROM group_lag_trend AS trend
    WHERE
        trend.per = 'hour'
        AND trend.since >= (SELECT first_hour FROM bounds)
        AND trend.since < least((SELECT first_day FROM bounds), (SELECT until FROM bounds))
    UNION ALL
    SELECT
        trend.cluster,
        trend.group_id,
        trend.highest_lag,
        trend.highest_time_lag_seconds,
        trend.diagnosis_seconds
    FROM group_lag_trend AS trend
    WHERE
        trend.per = 'hour'
        AND trend.since >= greatest((SELECT first_day FROM bounds), (SELECT last_day FROM bounds))
        AND trend.since < (SELECT until FROM bounds)
),

peaks AS (
    SELECT
        cluster,
        group_id,
        max(highest_lag) AS peak_lag,
        max(highest_time_lag_seconds) AS peak_time_lag_seconds
    FROM counted
    GROUP BY cluster, group_id
),

held AS (
    SELECT
        counted.cluster,
        counted.group_id,
        each.key AS diagnosis,
        sum(each.value::double precision) AS seconds
    FROM counted
    CROSS JOIN LATERAL jsonb_each_text(counted.diagnosis_seconds) AS each
    WHERE each.key NOT IN ('healthy', 'unknown')
    GROUP BY counted.cluster, counted.group_id, each.key
),

unhealthy AS (
    SELECT
        cluster,
        group_id,
        sum(seconds) AS seconds,
        (array_agg(diagnosis ORDER BY seconds DESC, diagnosis))[1] AS diagnosis
    FROM held
    GROUP BY cluster, group_id
),

spans AS (
    SELECT
        span.cluster,
        span.group_id,
        min(span.since) AS first_at,
        nullif(max(coalesce(span.until, 'infinity')), 'infinity') AS last_at
    FROM bounds
    INNER JOIN diagnosis_span AS span
        ON span.since < bounds.until AND coalesce(span.until, 'infinity') > bounds.since
    WHERE span.diagnosis NOT IN ('healthy', 'unknown')
    GROUP BY span.cluster, span.group_id
),

happened AS (
    SELECT
        incident.cluster,
        incident.group_id,
        count(*) AS incidents,
        count(incident.notified_at) AS notified,
        CASE
            WHEN NOT bool_or(incident.kind = 'data loss' AND lost.records IS NULL)
                THEN coalesce(sum(lost.records), 0)::bigint
        END AS lost_records
    FROM bounds
    INNER JOIN incident
        ON
            coalesce(incident.began_at, incident.opened_at) < bounds.until
            AND coalesce(incident.closed_at, 'infinity') > bounds.since
    LEFT JOIN LATERAL (
        SELECT (each ->> 'amount')::double precision AS records
        FROM jsonb_array_elements(incident.causes) AS listed (each)
        WHERE each ->> 'cause' = 'data loss'
    ) AS lost ON TRUE
    WHERE incident.group_id IS NOT NULL
    GROUP BY incident.cluster, incident.group_id
)

SELECT
    cluster,
    group_id,
    coalesce(unhealthy.seconds, 0) AS unhealthy_seconds,
    peaks.peak_lag,
    peaks.peak_time_lag_seconds,
    coalesce(happened.incidents, 0) AS incidents,
    coalesce(happened.notified, 0) AS notified,
    CASE WHEN happened.incidents IS NULL THEN 0 ELSE happened.lost_records END AS lost_records,
    unhealthy.diagnosis,
    spans.first_at,
    spans.last_at
FROM unhealthy
FULL JOIN happened USING (cluster, group_id)
LEFT JOIN peaks USING (cluster, group_id)
LEFT JOIN spans USING (cluster, group_id)
WHERE
    (CAST(:cluster AS text) IS NULL OR cluster = CAST(:cluster AS text))
    AND (CAST(:group AS text) IS NULL OR group_id = CAST(:group AS text))
ORDER BY
    unhealthy_seconds DESC,
    peaks.peak_time_lag_seconds DESC NULLS LAST,
    incidents DESC,
    cluster,
    group_id
LIMIT CAST(:limit AS integer);
