-- Which groups got worse this week? One row per group that was unhealthy for a larger share of the period than of the
-- period before, largest increase first. The period has whole days in UTC and ends on the day of `until`. A group
-- with an unknown share is not listed. The `not_well_` shares are the share of the time with a known diagnosis other
-- than "healthy". `diagnosis` is the one of those that lasted longest. Lag is the mean of all snapshots in offsets,
-- delay the maximum in seconds.
--
-- Parameters:
--   :cluster text = null           Configured name of the cluster; null for all clusters.
--   :days integer = 7              Length in days of the period, and of the period before it.
--   :until timestamptz = null      Moment on the last day of the period; null for now.
--
-- Columns as in: group_metrics.
-- Its own columns:
--   unhealthy_before_share double precision         Share of unhealthy time in the period before.
--   unhealthy_now_share double precision            Share of unhealthy time in the period.
--   diagnosis text                                 Unhealthy diagnosis that lasted longest in the period.
--   mean_lag_before double precision (offsets)     Mean lag in the period before.
--   mean_lag_now double precision (offsets)        Mean lag in the period.
--   highest_delay_before_seconds double precision  Maximum time lag beyond the commit interval in the period before.
--   highest_delay_now_seconds double precision     Maximum time lag beyond the commit interval in the period.
WITH bounds AS (
    SELECT date_bin('1 day', coalesce(CAST(:until AS timestamptz), now()), '2000-01-01 00:00:00+00') AS last_day
),

-- subqueries instead of a join: the planner then reads only the periods, by the index of their start
counted AS (
    SELECT
        trend.cluster,
        trend.group_id,
        trend.since > (SELECT last_day FROM bounds) - make_interval(days => CAST(:days AS integer)) AS is_now,
        trend.mean_lag,
        trend.known_lag_snapshots,
        trend.highest_delay_seconds,
        trend.diagnosis_seconds
    FROM group_lag_trend AS trend
    WHERE
        trend.per = 'day'
        AND trend.since > (SELECT last_day FROM bounds) - make_interval(days => 2 * CAST(:days AS integer))
        AND trend.since <= (SELECT last_day FROM bounds)
        AND (CAST(:cluster AS text) IS NULL OR trend.cluster = CAST(:cluster AS text))
),

means AS (
    SELECT
        cluster,
        group_id,
        is_now,
        sum(mean_lag * known_lag_snapshots) / nullif(sum(known_lag_snapshots), 0) AS mean_lag,
        max(highest_delay_seconds) AS highest_delay_seconds
    FROM counted
    GROUP BY cluster, group_id, is_now
),

held AS (
    SELECT
        counted.cluster,
        counted.group_id,
        counted.is_now,
        each.key AS diagnosis,
        sum(each.value::double precision) AS seconds
    FROM counted
    CROSS JOIN LATERAL jsonb_each_text(counted.diagnosis_seconds) AS each
    WHERE each.key <> 'unknown'
    GROUP BY counted.cluster, counted.group_id, counted.is_now, each.key
),

shares AS (
    SELECT
        cluster,
        group_id,
        is_now,
        coalesce(sum(seconds) FILTER (WHERE diagnosis <> 'healthy'), 0) / nullif(sum(seconds), 0) AS not_well,
        (array_agg(diagnosis ORDER BY seconds DESC, diagnosis) FILTER (WHERE diagnosis <> 'healthy'))[1] AS diagnosis
    FROM held
    GROUP BY cluster, group_id, is_now
)

SELECT
    late.cluster,
    late.group_id,
    early.not_well AS unhealthy_before_share,
    late.not_well AS unhealthy_now_share,
    late.diagnosis,
    mean_early.mean_lag AS mean_lag_before,
    mean_late.mean_lag AS mean_lag_now,
    mean_early.highest_delay_seconds AS highest_delay_before_seconds,
    mean_late.highest_delay_seconds AS highest_delay_now_seconds
FROM shares AS late
INNER JOIN shares AS early
    ON early.cluster = late.cluster AND early.group_id = late.group_id AND NOT early.is_now
INNER JOIN means AS mean_late
    ON mean_late.cluster = late.cluster AND mean_late.group_id = late.group_id AND mean_late.is_now
INNER JOIN means AS mean_early
    ON mean_early.cluster = late.cluster AND mean_early.group_id = late.group_id AND NOT mean_early.is_now
WHERE late.is_now AND late.not_well > early.not_well
ORDER BY late.not_well - early.not_well DESC, late.cluster, late.group_id;
