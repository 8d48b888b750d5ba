-- One row per group, strategy, measure and time after it was adopted: what was promised held against what came, over all
-- times that the history knows. error is the median of realised - expected, relative_error that over expected; the shares
-- are of the checks of which it is known what came. muted_until: until when the strategy is not advised to the group.
--
-- Columns as in: advice, advice_check.
-- Its own columns:
--   strategy text                            The adopted strategy.
--   checks bigint                            How often it came due.
--   known bigint                             Of how many of those it is known what came.
--   error double precision (ratio)           Median of what came less what was expected, in the unit of the row.
--   relative_error double precision (share)  Median of that over what was expected, where that is not 0.
--   inside_share double precision            Share of those that came to lie between low and high.
--   no_worse_share double precision          Share of those that were no worse than high.
--   adopted_at timestamptz                  When it was adopted last.
--   muted_until timestamptz                  Until when the strategy is not advised to the group; null: it is not muted.
CREATE OR REPLACE VIEW advice_scorecard AS
SELECT
    advice.cluster,
    advice.group_id,
    checked.strategy,
    checked.measure,
    checked.after_seconds,
    checked.unit,
    count(*) AS checks,
    count(checked.realised) AS known,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY checked.realised - checked.expected) AS error,
    percentile_cont(0.5) WITHIN GROUP (
        ORDER BY (checked.realised - checked.expected) / nullif(checked.expected, 0)
    ) AS relative_error,
    avg((checked.realised BETWEEN checked.low AND checked.high)::integer)::double precision AS inside_share,
    avg((checked.realised <= checked.high)::integer)::double precision AS no_worse_share,
    max(checked.adopted_at) AS adopted_at,
    max(muted.until) AS muted_until
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
