-- What would all open switches save? One row per group that is advised to switch now, the largest saving first, and below those
-- of a cluster one without a group: all of them. `saved_lag` is what is saved of the lag in an hour, in offsets;
-- `saved_offset_seconds` of all lag over that hour, less the price of the restarts (below 0 where a group switches for
-- another reason); the other two are of what crosses racks: bytes per second, and what these cost in 30 days. Null is
-- unknown, and a sum is of what is known.
--
-- Parameters:
--   :cluster text = null  Configured name of the cluster; null: every cluster.
--
-- Columns as in: latest_advice, group_metrics.
-- Its own columns:
--   strategy text = none                     The strategy to switch to; null for a row of several.
--   switches bigint (groups)                 Number of groups in the row.
--   saved_lag double precision               Of the lag in an hour, as expected.
--   saved_offset_seconds double precision    Of the lag over an hour, less the price of getting there.
--   saved_bytes_per_second double precision  Of what crosses racks.
--   saved_per_month double precision         Of what that costs in 30 days; null also where there is more than one currency.
--   advised_since timestamptz                Since when a switch is advised.
WITH open AS (
    SELECT
        advice.cluster,
        advice.group_id,
        advice.strategy,
        advice.state_since AS advised_since,
        advice.moves,
        live.forecast_lag_expected - other.forecast_lag_expected AS saved_lag,
        live.forecast_lag_integral_expected - other.forecast_lag_integral_expected
        - other.price_offset_seconds AS saved_offset_seconds,
        live.cross_rack_bytes_per_second - other.cross_rack_bytes_per_second AS saved_bytes_per_second,
        live.cross_rack_cost_per_month - other.cross_rack_cost_per_month AS saved_per_month,
        live.currency,
        advice.taken_at
    FROM latest_advice AS advice
    LEFT JOIN candidate AS live
        ON live.snapshot_id = advice.snapshot_id AND live.group_id = advice.group_id AND live.strategy = 'live'
    LEFT JOIN candidate AS other
        ON
            other.snapshot_id = advice.snapshot_id
            AND other.group_id = advice.group_id
            AND other.strategy = advice.strategy
    WHERE
        advice.verdict = 'switch'
        AND (CAST(:cluster AS text) IS NULL OR advice.cluster = CAST(:cluster AS text))
)

SELECT
    cluster,
    group_id,
    CASE WHEN GROUPING(group_id) = 0 THEN min(strategy) END AS strategy,
    count(*) AS switches,
    sum(moves)::bigint AS moves,
    sum(saved_lag) AS saved_lag,
    sum(saved_offset_seconds) AS saved_offset_seconds,
    sum(saved_bytes_per_second) AS saved_bytes_per_second,
    CASE WHEN count(DISTINCT currency) = 1 THEN sum(saved_per_month) END AS saved_per_month,
    CASE WHEN count(DISTINCT currency) = 1 THEN min(currency) END AS currency,
    min(advised_since) AS advised_since,
    min(taken_at) AS taken_at,
    extract(epoch FROM now() - min(taken_at))::double precision AS age_seconds
FROM open
GROUP BY GROUPING SETS ((cluster, group_id), (cluster))
ORDER BY
    cluster,
    group_id IS NULL,
    saved_offset_seconds DESC NULLS LAST,
    saved_per_month DESC NULLS LAST,
    group_id;
