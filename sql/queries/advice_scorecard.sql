-- How well does advice keep what it promises? One row per group, strategy, measure and time after it was adopted, the most checked
-- first. measure: lag (offsets), delay_seconds, utilisation (of the busiest member), cross_rack_share; after a day, what
-- was promised for an hour. error is the median of what came less what was expected, in the unit of the row, and
-- relative_error over what was expected; the shares are fractions of 1 of the `known` checks. Four of five should lie
-- inside. muted_until is null for what is not muted.
--
-- Parameters:
--   :cluster text = null   Configured name of the cluster; null: every cluster.
--   :group text = null     The consumer group; null: every group.
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
    muted_until
FROM advice_scorecard
WHERE
    (CAST(:cluster AS text) IS NULL OR cluster = CAST(:cluster AS text))
    AND (CAST(:group AS text) IS NULL OR group_id = CAST(:group AS text))
ORDER BY checks DESC, cluster, group_id, strategy, after_seconds, measure;
