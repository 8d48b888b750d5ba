-- Which groups got worse this week? One row per group that did not keep up for a larger share of its time than in as many days
-- before, the largest rise first. The period is of whole days in UTC, the last of them that of `until`; a group of which one of the
-- two is unknown is not listed. `not_well_` is the share of the time with a known diagnosis in which that was another than
-- "healthy"; `diagnosis` is the one among those that held longest. The lag is the mean of all snapshots, in offsets; the
-- delay is the highest, in seconds.
--
-- Parameters:
--   :cluster text = null           Configured name of the cluster; null: every cluster.
--   :days integer = 7              How many days to compare with as many before.
--   :until timestamptz = null      The moment on whose day the period ends; null: now.
--
-- Columns as in: group_metrics.
-- Its own columns:
--   not_well_before_share double precision         Of the time before, the share in which it did not keep up.
--   not_well_now_share double precision            The same of the period.
--   diagnosis text                                 What it had longest in the period.
--   mean_lag_before double precision (offsets)     Mean lag before.
--   mean_lag_now double precision (offsets)        Mean lag in the period.
--   highest_delay_before_seconds double precision  Highest delay before.
--   highest_delay_now_seconds double precision     Highest delay in the period.
WITH bounds AS (
    SELECT date_bin('1 day', coalesce(CAST(:until AS timestamptz), now()), '2000-01-01 00:00:00+00') AS last_day
),

counted AS (
    SELECT
        trend.cluster,
        trend.group_id,
        trend.since > bounds.last_day - make_interval(days => CAST(:days AS integer)) AS is_now,
        trend.mean_lag,
        trend.known_lag_snapshots,
        trend.highest_delay_seconds,
        trend.diagnosis_seconds
    FROM bounds
    INNER JOIN group_lag_trend AS trend
        ON
            trend.per = 'day'
            AND trend.since > bounds.last_day - make_interval(days => 2 * CAST(:days AS integer))
            AND trend.since <= bounds.last_day
    WHERE CAST(:cluster AS text) IS NULL OR trend.cluster = CAST(:cluster AS text)
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
    early.not_well AS not_well_before_share,
    late.not_well AS not_well_now_share,
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
