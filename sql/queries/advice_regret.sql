-- How much lag did groups have that a switch would have saved? One row per group and kind, most saved first: advised
-- (the group was advised to switch and did not) or silent (it was not). Each hour in which a deployable strategy was
-- forecast to help is replayed with it, its cost included; hours do not overlap. saved_ counts the hours in which it
-- is known and not negative, least_saved_ its lower end.
--
-- Parameters:
--   :cluster text = null            Configured name of the cluster; null for all clusters.
--   :group text = null              Consumer group; null for all groups.
--   :hours double precision = 720   Length of the period in hours.
--   :until timestamptz = null       End of the period; null for now.
--
-- Columns as in: advice, advice_regret.
-- Its own columns:
--   kind text                                     advised or silent.
--   periods bigint                                Number of hours, or parts of hours.
--   known_periods bigint                          Number of those in which the saving is known.
--   came_offset_seconds double precision          Actual backlog in all of them, summed over time.
--   saved_offset_seconds double precision         What the strategy would have saved of it.
--   least_saved_offset_seconds double precision   What it would have saved at least.
--   strategy text = none                          Commonest strategy.
SELECT
    advice.cluster,
    advice.group_id,
    CASE WHEN regret.state = 'confirmed' THEN 'advised' ELSE 'silent' END AS kind,
    mode() WITHIN GROUP (ORDER BY regret.strategy) AS strategy,
    count(*) AS periods,
    count(regret.saved) AS known_periods,
    sum(regret.came) AS came_offset_seconds,
    sum(greatest(regret.saved, 0)) AS saved_offset_seconds,
    sum(greatest(regret.saved_low, 0)) AS least_saved_offset_seconds,
    min(regret.since) AS since,
    max(regret.until) AS until
FROM advice_regret AS regret
INNER JOIN advice ON advice.advice_id = regret.advice_id
WHERE
    (CAST(:cluster AS text) IS NULL OR advice.cluster = CAST(:cluster AS text))
    AND (CAST(:group AS text) IS NULL OR advice.group_id = CAST(:group AS text))
    AND regret.until <= coalesce(CAST(:until AS timestamptz), now())
    AND regret.until > coalesce(CAST(:until AS timestamptz), now())
    - make_interval(secs => 3600 * CAST(:hours AS double precision))
GROUP BY advice.cluster, advice.group_id, kind
ORDER BY saved_offset_seconds DESC NULLS LAST, came_offset_seconds DESC, advice.cluster, advice.group_id, kind;
