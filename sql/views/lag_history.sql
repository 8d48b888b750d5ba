-- One row per group and snapshot, as long as snapshots are kept: lag, rates, skew, racks and membership changes. Lag
-- is in offsets, rates are in offsets per second, rounded to seven digits. Null is unknown, except that there is no
-- skew without lag and no member figure without members.
--
-- Columns as in: group_metrics, candidate, group_sample.
CREATE OR REPLACE VIEW lag_history AS
SELECT
    known.cluster,
    known.group_id,
    sample.taken_at,
    coalesce(sample.status, 'OK') AS status,
    coalesce(sample.state, 'Stable') AS state,
    sample.diagnosis,
    sample.readable,
    sample.members,
    sample.partitions,
    sample.total_lag,
    CASE WHEN sample.partitions IS NOT NULL THEN coalesce(sample.unknown_lag_partitions, 0) END AS unknown_lag_partitions,
    sample.largest_member_lag,
    sample.lag_lower_bound,
    -- the cast through text keeps exactly the stored digits
    sample.lag_skew::text::double precision AS lag_skew,
    sample.delay_seconds::text::double precision AS delay_seconds,
    sample.time_lag_seconds::text::double precision AS time_lag_seconds,
    sample.production_per_second::text::double precision AS production_per_second,
    sample.consumption_per_second::text::double precision AS consumption_per_second,
    sample.cross_rack_bytes_per_second::text::double precision AS cross_rack_bytes_per_second,
    sample.cross_rack_cost_per_month::text::double precision AS cross_rack_cost_per_month,
    sample.currency,
    CASE WHEN sample.compared THEN coalesce(sample.members_joined, 0) END AS members_joined,
    CASE WHEN sample.compared THEN coalesce(sample.members_left, 0) END AS members_left,
    CASE WHEN sample.compared THEN coalesce(sample.members_restarted, 0) END AS members_restarted,
    CASE WHEN sample.compared THEN coalesce(sample.partitions_moved, 0) END AS partitions_moved,
    sample.would_have_moved,
    sample.reassigned,
    sample.forecast_soon_lag_low::text::double precision AS forecast_soon_lag_low,
    sample.forecast_soon_lag_expected::text::double precision AS forecast_soon_lag_expected,
    sample.forecast_soon_lag_high::text::double precision AS forecast_soon_lag_high,
    sample.forecast_lag_low::text::double precision AS forecast_lag_low,
    sample.forecast_lag_expected::text::double precision AS forecast_lag_expected,
    sample.forecast_lag_high::text::double precision AS forecast_lag_high
FROM consumer_group AS known
INNER JOIN group_sample AS sample ON sample.group_number = known.group_number;
