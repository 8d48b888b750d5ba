-- One row per group and day in UTC: cross-rack traffic and its cost at the configured price. Traffic is the rate of
-- each snapshot multiplied by the seconds since the previous one. Null is unknown: cross_rack_seconds of the
-- covered_seconds are known.
--
-- Columns as in: group_day.
-- Its own columns:
--   day timestamptz                        Start of the day.
--   cross_rack_gigabytes double precision  Cross-rack traffic in gigabytes (10^9 bytes), the unit of the price.
CREATE OR REPLACE VIEW rack_cost_daily AS
SELECT
    cluster,
    group_id,
    since AS day,
    cross_rack_bytes,
    -- prices are per 10^9 bytes
    cross_rack_bytes / 1e9 AS cross_rack_gigabytes,
    cross_rack_cost,
    currency,
    cross_rack_seconds,
    covered_seconds
FROM group_lag_trend
WHERE per = 'day';
