-- Stores the lag forecasts with the current assignment in the samples of a snapshot.
--
-- Parameters:
--   :snapshot_id text      Id of the snapshot.
--   :cluster text          Configured name of the cluster.
--   :taken_at timestamptz  Start of the snapshot; restricts the statement to the table of its day.
UPDATE group_sample SET
    forecast_soon_lag_low = live.forecast_soon_lag_low,
    forecast_soon_lag_expected = live.forecast_soon_lag_expected,
    forecast_soon_lag_high = live.forecast_soon_lag_high,
    forecast_lag_low = live.forecast_lag_low,
    forecast_lag_expected = live.forecast_lag_expected,
    forecast_lag_high = live.forecast_lag_high
FROM consumer_group AS known
LEFT JOIN candidate AS live
    ON live.snapshot_id = :snapshot_id AND live.group_id = known.group_id AND live.strategy = 'live'
WHERE
    known.cluster = :cluster
    AND group_sample.group_number = known.group_number
    AND group_sample.taken_at = CAST(:taken_at AS timestamptz)
    AND coalesce(live.forecast_lag_expected, group_sample.forecast_lag_expected) IS NOT NULL;
