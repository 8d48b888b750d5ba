-- What would all advised switches save? One row per group with a current advice to switch, largest saving first, then
-- one per cluster without a group: the total. `saved_lag` is the reduction of the lag in one hour, in offsets.
-- `saved_offset_seconds` is the reduction of the lag integral over that hour minus the cost of the restarts; it is
-- negative for a switch with another reason. The other two are reductions of cross-rack traffic: bytes per second,
-- and cost in 30 days. Null is unknown; totals sum the known values.
--
-- Parameters:
--   :cluster text = null  Configured name of the cluster; null for all clusters.
--
-- Columns as in: latest_advice, group_metrics.
-- Its own columns:
--   strategy text = none                     Advised strategy; null in a total.
--   switches bigint (groups)                 Number of groups in the row.
--   saved_lag double precision               Reduction of the p50 lag in one hour.
--   saved_offset_seconds double precision    Reduction of the lag integral over one hour, restarts included (p50).
--   saved_bytes_per_second double precision  Reduction of the cross-rack bytes per second.
--   saved_per_month double precision         Reduction of the cross-rack cost in 30 days; null also with several currencies.
--   advised_since timestamptz                Time since which a switch is advised.
WITH open AS (
    SELECT
        advice.cluster,
        advice.group_id,
        advice.strategy,
        advice.state_since AS advised_since,
        advice.moves,
        live.forecast_lag_expected - other.forecast_lag_expected AS saved_lag,
        other.forecast_gain_expected AS saved_offset_seconds,
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
