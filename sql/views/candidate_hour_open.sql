-- One row per group and hour with a snapshot that is not yet rolled up in candidate_hour: its future row there. Other
-- views and the maintenance read it. A median is the value of a snapshot: half of the known values are at most as
-- large.
--
-- Columns as in: candidate_hour.
CREATE OR REPLACE VIEW candidate_hour_open AS
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
        fresh.cluster,
        sample.group_id,
        fresh.since,
        each.strategy,
        min(each.place) AS place,
        count(*)::smallint AS snapshots,
        (count(*) FILTER (WHERE each.runnable))::smallint AS runnable_snapshots,
        min(each.member_lag) AS best_member_lag,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY each.member_lag) AS median_member_lag,
        max(each.member_lag) AS worst_member_lag,
        min(each.forecast_lag) AS best_forecast_lag,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY each.forecast_lag) AS median_forecast_lag,
        max(each.forecast_lag) AS worst_forecast_lag,
        min(each.cross_rack_share) AS best_cross_rack_share,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY each.cross_rack_share) AS median_cross_rack_share,
        max(each.cross_rack_share) AS worst_cross_rack_share,
        avg(each.cross_rack_bytes_per_second)::real AS cross_rack_bytes_per_second,
        min(each.moves) AS best_moves,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY each.moves) AS median_moves,
        max(each.moves) AS worst_moves
    FROM candidate_hour_fresh AS fresh
    INNER JOIN candidate_sample AS sample ON sample.snapshot_id = fresh.snapshot_id
    CROSS JOIN LATERAL unnest(
        sample.strategies,
        sample.runnable,
        sample.member_lag,
        sample.forecast_lag,
        sample.cross_rack_share,
        sample.cross_rack_bytes_per_second,
        sample.moves
    ) WITH ORDINALITY AS each (
        strategy, runnable, member_lag, forecast_lag, cross_rack_share, cross_rack_bytes_per_second, moves, place
    )
    GROUP BY fresh.cluster, sample.group_id, fresh.since, each.strategy
) AS made
GROUP BY made.cluster, made.group_id, made.since;
