-- One row per group, day in UTC and winning strategy: number of evaluated snapshots that it won, and number of those
-- with the advice to switch to it. The advice follows only after several wins. strategy is null for snapshots in
-- which no strategy was better than the current one.
--
-- Columns as in: group_day.
-- Its own columns:
--   day timestamptz             Start of the day.
--   strategy text = none        Name of the strategy; null if none was better than the current one.
--   won_snapshots integer       Number of snapshots in which it was the best deployable strategy.
--   switch_snapshots integer    Number of those with the advice to switch to it.
--   won_share double precision  Snapshots that it won divided by evaluated snapshots.
CREATE OR REPLACE VIEW strategy_wins AS
SELECT
    trend.cluster,
    trend.group_id,
    trend.since AS day,
    each.strategy,
    each.won AS won_snapshots,
    each.advised AS switch_snapshots,
    trend.advised_snapshots,
    each.won::double precision / nullif(trend.advised_snapshots, 0) AS won_share
FROM group_lag_trend AS trend
CROSS JOIN LATERAL jsonb_to_recordset(trend.wins) AS each (strategy text, won integer, advised integer)
WHERE trend.per = 'day';
