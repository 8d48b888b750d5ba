-- How accurate are the forecasts of adopted advice? One row per group, strategy, measure and time after the adoption,
-- most checks first. measure is lag (offsets), delay_seconds, utilization (of the busiest member) or
-- cross_rack_share. After one day, the forecast for one hour is checked. error is the median of the actual value
-- minus the p50 forecast, in the unit of the row. relative_error is error divided by the p50 forecast. Shares are
-- fractions of 1 of the `known` checks; inside_share should be about 0.8. muted_until is null if the strategy is not
-- muted. came and if_stayed: with the switch and without it, the latter replayed with the same arrivals; saved_ is
-- the lag that the switches have saved by then.
--
-- Parameters:
--   :cluster text = null   Configured name of the cluster; null for all clusters.
--   :group text = null     Consumer group; null for all groups.
--
-- Columns as in: advice_scorecard.
SELECT
    cluster,
    group_id,
    strategy,
    measure,
    after_seconds,
    unit,
    checks,
    known,
    error,
    relative_error,
    inside_share,
    no_worse_share,
    adopted_at,
    muted_until,
    came,
    if_stayed,
    saved_offset_seconds
FROM advice_scorecard
WHERE
    (CAST(:cluster AS text) IS NULL OR cluster = CAST(:cluster AS text))
    AND (CAST(:group AS text) IS NULL OR group_id = CAST(:group AS text))
ORDER BY checks DESC, cluster, group_id, strategy, after_seconds, measure;
