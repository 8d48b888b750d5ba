-- One row per group, day in UTC and strategy that won on it: of the snapshots after which the group was judged, after how many
-- that strategy was the best that the group could get, and after how many it was advised to switch to it (a win has to last
-- for that). strategy is null for those after which nothing was better than what the group has.
--
-- Columns as in: group_day.
-- Its own columns:
--   day timestamptz             When the day began.
--   strategy text = none        Our name of the strategy; null: none was better than what it has.
--   won_snapshots integer       Number of snapshots after which it was the best that the group could get.
--   switch_snapshots integer    Number of those after which the group was advised to switch to it.
--   won_share double precision  Snapshots won over those after which the group was judged.
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
