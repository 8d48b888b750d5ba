-- One row per group, strategy, measure and time after the adoption: forecast accuracy over the whole history. error
-- is the median of actual - expected, relative_error is error divided by expected. Shares are those of checks with
-- an actual value.
--
-- Columns as in: advice, advice_check.
-- Its own columns:
--   strategy text                            Adopted strategy.
--   checks bigint                            Number of forecast checks.
--   known bigint                             Number of those with an actual value.
--   error double precision (ratio)           Median of the actual value minus the p50 forecast, in the unit of the row.
--   relative_error double precision (share)  Median of that difference divided by the p50 forecast, where that is not 0.
--   inside_share double precision            Share of the actual values between p10 and p90.
--   no_worse_share double precision          Share of the actual values that are not worse than p90.
--   adopted_at timestamptz                   Time of the last adoption.
--   muted_until timestamptz                  End of the mute of the strategy for the group; null if it is not muted.
--   came double precision (ratio)            Median of the actual value, in the unit of the row.
--   if_stayed double precision (ratio)       Median of the value without the switch, replayed with the same arrivals.
--   saved_offset_seconds double precision    Sum of the lag that the switches have saved by then, cost included.
CREATE OR REPLACE VIEW advice_scorecard AS
SELECT
    advice.cluster,
    advice.group_id,
    checked.strategy,
    checked.measure,
    checked.after_seconds,
    checked.unit,
    count(*) AS checks,
    count(checked.actual) AS known,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY checked.actual - checked.expected) AS error,
    percentile_cont(0.5) WITHIN GROUP (
        ORDER BY (checked.actual - checked.expected) / nullif(checked.expected, 0)
    ) AS relative_error,
    avg((checked.actual BETWEEN checked.low AND checked.high)::integer)::double precision AS inside_share,
    avg((checked.actual <= checked.high)::integer)::double precision AS no_worse_share,
    max(checked.adopted_at) AS adopted_at,
    max(muted.until) AS muted_until,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY checked.actual) AS came,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY checked.if_stayed) AS if_stayed,
    sum(checked.saved) AS saved_offset_seconds
FROM advice_check AS checked
INNER JOIN advice ON advice.advice_id = checked.advice_id
LEFT JOIN (
    SELECT
        latest.cluster,
        latest.group_id,
        mute ->> 'strategy' AS strategy,
        CAST(mute ->> 'until' AS timestamptz) AS until
    FROM newest_snapshot AS newest
    INNER JOIN advice AS latest ON latest.snapshot_id = newest.advised
    CROSS JOIN LATERAL jsonb_array_elements(latest.course -> 'mutes') AS mute
) AS muted
    ON
        muted.cluster = advice.cluster
        AND muted.group_id = advice.group_id
        AND muted.strategy = checked.strategy
GROUP BY
    advice.cluster, advice.group_id, checked.strategy, checked.measure, checked.after_seconds, checked.unit;
