-- One row per group, strategy and hour (per = 'hour') or day (per = 'day') in UTC: figures of the group with the
-- strategy, and its wins. The row with is_live is the current assignment, the baseline. Smaller is better: best is
-- the minimum and worst the maximum of all snapshots. The median of an hour is that of its snapshots, the median of a
-- day that of the hourly medians. Strategies without a score have no row. Hours are kept for
-- `keep_candidate_hourly_days`, days for a year or more. Periods that are not rolled up yet are computed from
-- snapshots. Filter by per.
--
-- Columns as in: candidate_hour.
-- Its own columns:
--   per text                                      Period of the row: hour or day.
--   since timestamptz                             Start of the hour or day.
--   strategy text                                 Name of the strategy; "live" is the assignment that the group had.
--   is_live boolean                               True for the assignment that the group had.
--   snapshots integer                             Number of snapshots with a score.
--   runnable_snapshots integer                    Number of those in which it could be deployed on the group.
--   won_snapshots integer                         Number of snapshots in which it was the best deployable strategy; for live, in which none was better.
--   switch_snapshots integer                      Number of those with the advice to switch to it.
--   best_member_lag real                          Largest member lag with its assignment: minimum.
--   median_member_lag real                        Largest member lag with its assignment: median.
--   worst_member_lag real                         Largest member lag with its assignment: maximum.
--   best_forecast_lag real = none                 Lag forecast for one hour ahead: minimum; null without a forecast.
--   median_forecast_lag real = none               Lag forecast for one hour ahead: median; null without a forecast.
--   worst_forecast_lag real = none                Lag forecast for one hour ahead: maximum; null without a forecast.
--   best_cross_rack_share real                    Share of partitions whose owner's rack has no replica: minimum.
--   median_cross_rack_share real                  Share of partitions whose owner's rack has no replica: median.
--   worst_cross_rack_share real                   Share of partitions whose owner's rack has no replica: maximum.
--   cross_rack_bytes_per_second real              Mean of the known cross-rack bytes per second.
--   best_moves integer                            Number of partitions that it would have moved: minimum.
--   median_moves integer                          Number of partitions that it would have moved: median.
--   worst_moves integer                           Number of partitions that it would have moved: maximum.
CREATE OR REPLACE VIEW strategy_history AS
SELECT
    kept.per,
    kept.cluster,
    kept.group_id,
    kept.since,
    each.strategy,
    each.strategy = 'live' AS is_live,
    each.snapshots::integer AS snapshots,
    each.runnable_snapshots::integer AS runnable_snapshots,
    CASE WHEN kept.wins IS NOT NULL THEN coalesce(counted.won, 0) END AS won_snapshots,
    CASE WHEN kept.wins IS NOT NULL THEN coalesce(counted.advised, 0) END AS switch_snapshots,
    each.best_member_lag,
    each.median_member_lag,
    each.worst_member_lag,
    each.best_forecast_lag,
    each.median_forecast_lag,
    each.worst_forecast_lag,
    each.best_cross_rack_share,
    each.median_cross_rack_share,
    each.worst_cross_rack_share,
    each.cross_rack_bytes_per_second,
    each.best_moves,
    each.median_moves,
    each.worst_moves
FROM (
    -- the views have the columns of the tables, in their order
    SELECT
        'hour' AS per,
        made.*,
        (
            SELECT own.wins FROM group_hour AS own
            WHERE own.cluster = made.cluster AND own.group_id = made.group_id AND own.since = made.since
        ) AS wins
    FROM candidate_hour AS made
    WHERE
        NOT EXISTS (
            SELECT FROM candidate_hour_fresh AS fresh
            WHERE fresh.cluster = made.cluster AND fresh.since = made.since
        )
    UNION ALL
    SELECT
        'hour' AS per,
        open.*,
        own.wins
    FROM candidate_hour_open AS open
    LEFT JOIN group_hour_open AS own
        ON own.cluster = open.cluster AND own.group_id = open.group_id AND own.since = open.since
    UNION ALL
    SELECT
        'day' AS per,
        made.*,
        (
            SELECT own.wins FROM group_day AS own
            WHERE own.cluster = made.cluster AND own.group_id = made.group_id AND own.since = made.since
        ) AS wins
    FROM candidate_day AS made
    WHERE
        NOT EXISTS (
            SELECT FROM candidate_hour_fresh AS fresh
            WHERE
                fresh.cluster = made.cluster
                AND date_bin('1 day', fresh.since, '2000-01-01 00:00:00+00') = made.since
        )
    UNION ALL
    SELECT
        'day' AS per,
        open.*,
        own.wins
    FROM candidate_day_open AS open
    LEFT JOIN group_day_open AS own
        ON own.cluster = open.cluster AND own.group_id = open.group_id AND own.since = open.since
) AS kept
CROSS JOIN LATERAL unnest(
    kept.strategies,
    kept.snapshots,
    kept.runnable_snapshots,
    kept.best_member_lag,
    kept.median_member_lag,
    kept.worst_member_lag,
    kept.best_forecast_lag,
    kept.median_forecast_lag,
    kept.worst_forecast_lag,
    kept.best_cross_rack_share,
    kept.median_cross_rack_share,
    kept.worst_cross_rack_share,
    kept.cross_rack_bytes_per_second,
    kept.best_moves,
    kept.median_moves,
    kept.worst_moves
) AS each (
    strategy, snapshots, runnable_snapshots, best_member_lag, median_member_lag, worst_member_lag,
    best_forecast_lag, median_forecast_lag, worst_forecast_lag, best_cross_rack_share, median_cross_rack_share,
    worst_cross_rack_share, cross_rack_bytes_per_second, best_moves, median_moves, worst_moves
)
LEFT JOIN LATERAL jsonb_to_recordset(kept.wins) AS counted (strategy text, won integer, advised integer)
    ON counted.strategy IS NOT DISTINCT FROM nullif(each.strategy, 'live');
