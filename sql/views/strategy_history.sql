-- One row per group, strategy and hour (per = 'hour') or day (per = 'day') in UTC: what the group would have had by it, had it
-- been asked after each snapshot, and how often it won. The row with is_live is what the group had, the one to compare
-- with. Smaller is better everywhere: best is the smallest and worst the largest value of a snapshot; of an hour the median
-- is that of its snapshots, of a day that of the medians of its hours. Strategies without an answer have no row. Hours are
-- kept for some days (`keep_candidate_hourly_days`), days for a year and more; what is not counted there yet is counted as
-- it is asked for. Ask for one kind.
--
-- Columns as in: candidate_hour.
-- Its own columns:
--   per text                                      What the row is of.
--   since timestamptz                             When the hour or day began.
--   strategy text                                 Our name of the strategy; "live" is what the group had.
--   is_live boolean                               Whether it is what the group had.
--   snapshots integer                             Number of snapshots in which it had an answer.
--   runnable_snapshots integer                    Number of those in which the group could run it, or could have been brought to it.
--   won_snapshots integer                         After how many it was the best that the group could get; of live: nothing was better.
--   switch_snapshots integer                      After how many of these the group was advised to switch to it.
--   best_member_lag real                          Smallest lag that the member with most had by its assignment.
--   median_member_lag real                        Median of it.
--   worst_member_lag real                         Largest.
--   best_forecast_lag real = none                 Smallest lag that was to be expected an hour ahead; null: nothing was forecast.
--   median_forecast_lag real = none               Median of it.
--   worst_forecast_lag real = none                Largest.
--   best_cross_rack_share real                    Smallest share of partitions read from a rack without a replica.
--   median_cross_rack_share real                  Median of it.
--   worst_cross_rack_share real                   Largest.
--   cross_rack_bytes_per_second real              Mean of the bytes per second across racks, where known.
--   best_moves integer                            Smallest number of partitions that it would have moved.
--   median_moves integer                          Median of it.
--   worst_moves integer                           Largest.
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
