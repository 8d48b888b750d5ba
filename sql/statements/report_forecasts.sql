-- The lag forecasts of groups with the current assignment (15 minutes and one hour ahead, in offsets), and the times
-- at which the assignment changed: one row per group and snapshot with either, oldest first.
--
-- Parameters:
--   :cluster text              Configured name of the cluster.
--   :since timestamptz         Start of the period.
--   :group text = null         Consumer group; null for all matching groups.
--   :groups_regex text = null  Regular expression of group ids; null for all groups.
SELECT
    history.group_id,
    history.taken_at,
    history.reassigned AS changed,
    history.forecast_soon_lag_low AS soon_low,
    history.forecast_soon_lag_expected AS soon_expected,
    history.forecast_soon_lag_high AS soon_high,
    history.forecast_lag_low AS low,
    history.forecast_lag_expected AS expected,
    history.forecast_lag_high AS high
FROM lag_history AS history
WHERE
    history.cluster = CAST(:cluster AS text)
    AND history.taken_at >= CAST(:since AS timestamptz)
    AND (CAST(:group AS text) IS NULL OR history.group_id = CAST(:group AS text))
    AND (CAST(:groups_regex AS text) IS NULL OR history.group_id ~ CAST(:groups_regex AS text))
    AND (history.reassigned OR history.forecast_lag_expected IS NOT NULL)
ORDER BY history.group_id, history.taken_at;
