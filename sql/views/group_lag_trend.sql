-- One row per group and hour (per = 'hour'), and one per group and day (per = 'day'), in UTC: lag, time lag, rates,
-- diagnoses, cross-rack traffic, membership changes and winning strategies. Past periods come from group_hour and
-- group_day, which are kept longer than snapshots. Periods that are not rolled up yet are computed from snapshots.
-- Filter by per.
--
-- Columns as in: group_hour.
-- Its own columns:
--   per text           Period of the row: hour or day.
--   since timestamptz  Start of the hour or day.
CREATE OR REPLACE VIEW group_lag_trend AS
SELECT
    trend.per,
    trend.cluster,
    trend.group_id,
    trend.since,
    trend.snapshots,
    trend.unreadable_snapshots,
    trend.covered_seconds,
    trend.known_lag_snapshots,
    trend.lowest_lag,
    trend.mean_lag,
    trend.highest_lag,
    trend.last_lag,
    trend.highest_delay_seconds,
    trend.highest_time_lag_seconds,
    trend.fewest_members,
    trend.most_members,
    trend.known_production_snapshots,
    trend.production_per_second,
    trend.known_consumption_snapshots,
    trend.consumption_per_second,
    trend.diagnosis_seconds,
    trend.cross_rack_seconds,
    trend.cross_rack_bytes,
    trend.cross_rack_cost,
    trend.currency,
    trend.rebalancing_snapshots,
    trend.compared_snapshots,
    trend.changed_snapshots,
    trend.members_joined,
    trend.members_left,
    trend.members_restarted,
    trend.partitions_moved,
    trend.would_have_moved,
    trend.advised_snapshots,
    trend.wins
FROM (
    -- the views have the columns of the tables, in their order
    SELECT
        'hour' AS per,
        made.*
    FROM group_hour AS made
    WHERE
        NOT EXISTS (
            SELECT FROM snapshot AS fresh
            WHERE
                fresh.cluster = made.cluster
                AND fresh.measured_at IS NOT NULL
                AND fresh.rolled_up_at IS NULL
                AND date_bin('1 hour', fresh.started_at, '2000-01-01 00:00:00+00') >= made.since
                AND date_bin('1 hour', fresh.started_at, '2000-01-01 00:00:00+00') < made.since + interval '1 hour'
        )
    UNION ALL
    SELECT
        'hour' AS per,
        open.*
    FROM group_hour_open AS open
    UNION ALL
    SELECT
        'day' AS per,
        made.*
    FROM group_day AS made
    WHERE
        NOT EXISTS (
            SELECT FROM snapshot AS fresh
            WHERE
                fresh.cluster = made.cluster
                AND fresh.measured_at IS NOT NULL
                AND fresh.rolled_up_at IS NULL
                AND date_bin('1 hour', fresh.started_at, '2000-01-01 00:00:00+00') >= made.since
                AND date_bin('1 hour', fresh.started_at, '2000-01-01 00:00:00+00') < made.since + interval '24 hours'
        )
    UNION ALL
    SELECT
        'day' AS per,
        open.*
    FROM group_day_open AS open
) AS trend;
