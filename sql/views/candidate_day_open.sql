-- One row per group and day with a snapshot that is not yet rolled up in candidate_day: its future row there,
-- computed from the rows of candidate_hour and candidate_hour_open. Other views and the maintenance read it. A median
-- is that of the hourly medians, regardless of their number of snapshots. A day whose hours are deleted is not
-- computed again.
--
-- Columns as in: candidate_day.
CREATE OR REPLACE VIEW candidate_day_open AS
WITH fresh AS MATERIALIZED (
    SELECT DISTINCT
        listed.cluster,
        listed.since
    FROM candidate_hour_fresh AS listed
),

days AS MATERIALIZED (
    SELECT DISTINCT
        fresh.cluster,
        date_bin('1 day', fresh.since, '2000-01-01 00:00:00+00') AS since
    FROM fresh
),

hours AS (
    SELECT open.* FROM candidate_hour_open AS open
    UNION ALL
    SELECT made.*
    FROM days
    INNER JOIN candidate_hour AS made
        ON
            made.cluster = days.cluster
            AND made.since >= days.since
            AND made.since < days.since + interval '24 hours'
            -- skips the hours of days without new snapshots
            AND made.since >= (SELECT min(first.since) FROM days AS first)
            AND made.since < (SELECT max(last.since) FROM days AS last) + interval '24 hours'
    WHERE NOT EXISTS (SELECT FROM fresh WHERE fresh.cluster = made.cluster AND fresh.since = made.since)
)

SELECT
    made.cluster,
    made.group_id,
    made.since,
    array_agg(made.strategy ORDER BY made.place, made.strategy) AS strategies,
    array_agg(made.snapshots ORDER BY made.place, made.strategy) AS snapshots,
    array_agg(made.runnable_snapshots ORDER BY made.place, made.strategy) AS runnable_snapshots,
    array_agg(made.best_member_lag ORDER BY made.place, made.strategy) AS best_member_lag,
    array_agg(made.median_member_lag ORDER BY made.place, made.strategy) AS median_member_lag,
    array_agg(made.worst_member_lag ORDER BY made.place, made.strategy) AS worst_member_lag,
    array_agg(made.best_forecast_lag ORDER BY made.place, made.strategy) AS best_forecast_lag,
    array_agg(made.median_forecast_lag ORDER BY made.place, made.strategy) AS median_forecast_lag,
    array_agg(made.worst_forecast_lag ORDER BY made.place, made.strategy) AS worst_forecast_lag,
    array_agg(made.best_cross_rack_share ORDER BY made.place, made.strategy) AS best_cross_rack_share,
    array_agg(made.median_cross_rack_share ORDER BY made.place, made.strategy) AS median_cross_rack_share,
    array_agg(made.worst_cross_rack_share ORDER BY made.place, made.strategy) AS worst_cross_rack_share,
    array_agg(made.cross_rack_bytes_per_second ORDER BY made.place, made.strategy) AS cross_rack_bytes_per_second,
    array_agg(made.best_moves ORDER BY made.place, made.strategy) AS best_moves,
    array_agg(made.median_moves ORDER BY made.place, made.strategy) AS median_moves,
    array_agg(made.worst_moves ORDER BY made.place, made.strategy) AS worst_moves
FROM (
    SELECT
        hours.cluster,
        hours.group_id,
        date_bin('1 day', hours.since, '2000-01-01 00:00:00+00') AS since,
        each.strategy,
        min(each.place) AS place,
        sum(each.snapshots)::smallint AS snapshots,
        sum(each.runnable_snapshots)::smallint AS runnable_snapshots,
        min(each.best_member_lag) AS best_member_lag,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY each.median_member_lag) AS median_member_lag,
        max(each.worst_member_lag) AS worst_member_lag,
        min(each.best_forecast_lag) AS best_forecast_lag,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY each.median_forecast_lag) AS median_forecast_lag,
        max(each.worst_forecast_lag) AS worst_forecast_lag,
        min(each.best_cross_rack_share) AS best_cross_rack_share,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY each.median_cross_rack_share) AS median_cross_rack_share,
        max(each.worst_cross_rack_share) AS worst_cross_rack_share,
        (
            sum(each.cross_rack_bytes_per_second * each.snapshots::double precision)
            / sum(each.snapshots) FILTER (WHERE each.cross_rack_bytes_per_second IS NOT NULL)
        )::real AS cross_rack_bytes_per_second,
        min(each.best_moves) AS best_moves,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY each.median_moves) AS median_moves,
        max(each.worst_moves) AS worst_moves
    FROM hours
    CROSS JOIN LATERAL unnest(
        hours.strategies,
        hours.snapshots,
        hours.runnable_snapshots,
        hours.best_member_lag,
        hours.median_member_lag,
        hours.worst_member_lag,
        hours.best_forecast_lag,
        hours.median_forecast_lag,
        hours.worst_forecast_lag,
        hours.best_cross_rack_share,
        hours.median_cross_rack_share,
        hours.worst_cross_rack_share,
        hours.cross_rack_bytes_per_second,
        hours.best_moves,
        hours.median_moves,
        hours.worst_moves
    ) WITH ORDINALITY AS each (
        strategy, snapshots, runnable_snapshots, best_member_lag, median_member_lag, worst_member_lag,
        best_forecast_lag, median_forecast_lag, worst_forecast_lag, best_cross_rack_share,
        median_cross_rack_share, worst_cross_rack_share, cross_rack_bytes_per_second, best_moves,
        median_moves, worst_moves, place
    )
    GROUP BY hours.cluster, hours.group_id, date_bin('1 day', hours.since, '2000-01-01 00:00:00+00'), each.strategy
) AS made
GROUP BY made.cluster, made.group_id, made.since;
