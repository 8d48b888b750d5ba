-- What becomes of a group in the coming hour under each assignment, what it costs to get there, and what of that is kept
-- beside it. The views are made again after the migrations.

DROP VIEW IF EXISTS latest_lag;

DROP VIEW IF EXISTS strategy_scoreboard;

ALTER TABLE group_metrics ADD COLUMN commit_ages_seconds double precision[];

COMMENT ON COLUMN group_metrics.commit_ages_seconds IS
    'Seconds of arrivals that its commits were behind at each sample it kept up, for its forecast.';

ALTER TABLE member_metrics ADD COLUMN silent boolean;

COMMENT ON COLUMN member_metrics.silent IS
    'Whether nothing it owns is committed any more though some of it is behind; null before there was this.';

ALTER TABLE candidate
    ADD COLUMN forecast_soon_lag_low double precision,
    ADD COLUMN forecast_soon_lag_expected double precision,
    ADD COLUMN forecast_soon_lag_high double precision,
    ADD COLUMN forecast_lag_low double precision,
    ADD COLUMN forecast_lag_expected double precision,
    ADD COLUMN forecast_lag_high double precision,
    ADD COLUMN forecast_delay_seconds_low double precision,
    ADD COLUMN forecast_delay_seconds_expected double precision,
    ADD COLUMN forecast_delay_seconds_high double precision,
    ADD COLUMN forecast_drained_seconds_low double precision,
    ADD COLUMN forecast_drained_seconds_expected double precision,
    ADD COLUMN forecast_drained_seconds_high double precision,
    ADD COLUMN forecast_utilisation_low double precision,
    ADD COLUMN forecast_utilisation_expected double precision,
    ADD COLUMN forecast_utilisation_high double precision,
    ADD COLUMN forecast_lag_integral_low double precision,
    ADD COLUMN forecast_lag_integral_expected double precision,
    ADD COLUMN forecast_lag_integral_high double precision,
    ADD COLUMN price_restarts integer,
    ADD COLUMN price_held_up_offsets double precision,
    ADD COLUMN price_offset_seconds double precision;

COMMENT ON COLUMN candidate.forecast_soon_lag_low IS
    'Forecast, low (one case in ten lies below): lag 15 minutes ahead, as a snapshot would show it.';
COMMENT ON COLUMN candidate.forecast_soon_lag_expected IS
    'Forecast, expected (half lie below): lag 15 minutes ahead, as a snapshot would show it.';
COMMENT ON COLUMN candidate.forecast_soon_lag_high IS
    'Forecast, high (one in ten above): lag 15 minutes ahead, as a snapshot would show it.';
COMMENT ON COLUMN candidate.forecast_lag_low IS
    'Forecast, low (one case in ten lies below): lag an hour ahead, as a snapshot would show it.';
COMMENT ON COLUMN candidate.forecast_lag_expected IS
    'Forecast, expected (half lie below): lag an hour ahead, as a snapshot would show it.';
COMMENT ON COLUMN candidate.forecast_lag_high IS
    'Forecast, high (one in ten above): lag an hour ahead, as a snapshot would show it.';
COMMENT ON COLUMN candidate.forecast_delay_seconds_low IS
    'Forecast, low (one case in ten lies below): how far behind the last member is an hour ahead, beyond its commits.';
COMMENT ON COLUMN candidate.forecast_delay_seconds_expected IS
    'Forecast, expected (half lie below): how far behind the last member is an hour ahead, beyond its commits.';
COMMENT ON COLUMN candidate.forecast_delay_seconds_high IS
    'Forecast, high (one in ten above): how far behind the last member is an hour ahead, beyond its commits.';
COMMENT ON COLUMN candidate.forecast_drained_seconds_low IS
    'Forecast, low (one case in ten lies below): time until nobody has a backlog; Infinity: not within the hour.';
COMMENT ON COLUMN candidate.forecast_drained_seconds_expected IS
    'Forecast, expected (half lie below): time until nobody has a backlog; Infinity: not within the hour.';
COMMENT ON COLUMN candidate.forecast_drained_seconds_high IS
    'Forecast, high (one in ten above): time until nobody has a backlog; Infinity: not within the hour.';
COMMENT ON COLUMN candidate.forecast_utilisation_low IS
    'Forecast, low (one case in ten lies below): what arrives in the coming hour over what the busiest member can do.';
COMMENT ON COLUMN candidate.forecast_utilisation_expected IS
    'Forecast, expected (half lie below): what arrives in the coming hour over what the busiest member can do.';
COMMENT ON COLUMN candidate.forecast_utilisation_high IS
    'Forecast, high (one in ten above): what arrives in the coming hour over what the busiest member can do.';
COMMENT ON COLUMN candidate.forecast_lag_integral_low IS
    'Forecast, low (one case in ten lies below): offsets behind, summed over the seconds of the coming hour.';
COMMENT ON COLUMN candidate.forecast_lag_integral_expected IS
    'Forecast, expected (half lie below): offsets behind, summed over the seconds of the coming hour.';
COMMENT ON COLUMN candidate.forecast_lag_integral_high IS
    'Forecast, high (one in ten above): offsets behind, summed over the seconds of the coming hour.';
COMMENT ON COLUMN candidate.price_restarts IS
    'How many members have to be restarted for it, one counted as often as it is; null without a need.';
COMMENT ON COLUMN candidate.price_held_up_offsets IS
    'Offsets that arrive while their partitions are held up by that; null without a need.';
COMMENT ON COLUMN candidate.price_offset_seconds IS
    'What these add to the expected lag integral of the coming hour; null without a need.';
