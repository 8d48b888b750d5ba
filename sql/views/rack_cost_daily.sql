-- One row per group and day in UTC: what crossed racks (the rate of each snapshot, times the seconds since the one before
-- it) and what that cost at the price then configured. Null is unknown; cross_rack_seconds of covered_seconds are known.
--
-- Columns as in: group_day.
-- Its own columns:
--   day timestamptz                        When the day began.
--   cross_rack_gigabytes double precision  The same in gigabytes, of 10^9 bytes, as it is priced.
CREATE OR REPLACE VIEW rack_cost_daily AS
SELECT
    cluster,
    group_id,
    since AS day,
    cross_rack_bytes,
    -- a price is per 10^9 bytes
    cross_rack_bytes / 1e9 AS cross_rack_gigabytes,
    cross_rack_cost,
    currency,
    cross_rack_seconds,
    covered_seconds
FROM group_lag_trend
WHERE per = 'day';
