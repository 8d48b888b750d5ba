-- The forecast accuracy of adopted advice: one row per group, strategy, measure and time after the adoption.
--
-- Parameters:
--   :cluster text              Configured name of the cluster.
--   :group text = null         Consumer group; null for all matching groups.
--   :groups_regex text = null  Regular expression of group ids; null for all groups.
SELECT
    card.group_id,
    card.strategy,
    card.measure,
    card.after_seconds,
    card.unit,
    card.checks,
    card.known,
    card.error,
    card.inside_share,
    card.no_worse_share,
    card.adopted_at,
    card.muted_until,
    card.came,
    card.if_stayed,
    card.saved_offset_seconds
FROM advice_scorecard AS card
WHERE
    card.cluster = CAST(:cluster AS text)
    AND (CAST(:group AS text) IS NULL OR card.group_id = CAST(:group AS text))
    AND (CAST(:groups_regex AS text) IS NULL OR card.group_id ~ CAST(:groups_regex AS text))
ORDER BY card.adopted_at DESC, card.group_id, card.strategy, card.after_seconds, card.measure;
