-- What did the adopted switches bring? One row per adopted advice and time after the adoption, newest first: lag in
-- offsets and time lag beyond the commit interval with the switch and without it, and the lag saved since it
-- began, cost included. Values without the switch are the assignment before, replayed with the same arrivals and the
-- observed capacities, low to high; they are null if the members or partitions changed.
--
-- Parameters:
--   :cluster text = null            Configured name of the cluster; null for all clusters.
--   :group text = null              Consumer group; null for all groups.
--   :hours double precision = 720   Length of the period in hours.
--   :until timestamptz = null       End of the period; null for now.
--
-- Columns as in: advice, advice_check.
-- Its own columns:
--   lag_came double precision (offsets) = none            Lag with the switch.
--   lag_if_stayed double precision (offsets) = none       Lag without it.
--   lag_if_stayed_low double precision (offsets) = none   Lag without it, lower end.
--   lag_if_stayed_high double precision (offsets) = none  Lag without it, upper end.
--   delay_came double precision (s) = none                Time lag with the switch.
--   delay_if_stayed double precision (s) = none           Time lag without it.
--   delay_if_stayed_low double precision (s) = none       Time lag without it, lower end.
--   delay_if_stayed_high double precision (s) = none      Time lag without it, upper end.
SELECT
    advice.cluster,
    advice.group_id,
    checked.strategy,
    checked.adopted_at,
    checked.after_seconds,
    max(checked.actual) FILTER (WHERE checked.measure = 'delay_seconds') AS delay_came,
    max(checked.if_stayed) FILTER (WHERE checked.measure = 'delay_seconds') AS delay_if_stayed,
    max(checked.if_stayed_low) FILTER (WHERE checked.measure = 'delay_seconds') AS delay_if_stayed_low,
    max(checked.if_stayed_high) FILTER (WHERE checked.measure = 'delay_seconds') AS delay_if_stayed_high,
    max(checked.actual) FILTER (WHERE checked.measure = 'lag') AS lag_came,
    max(checked.if_stayed) FILTER (WHERE checked.measure = 'lag') AS lag_if_stayed,
    max(checked.if_stayed_low) FILTER (WHERE checked.measure = 'lag') AS lag_if_stayed_low,
    max(checked.if_stayed_high) FILTER (WHERE checked.measure = 'lag') AS lag_if_stayed_high,
    max(checked.saved) AS saved,
    max(checked.saved_low) AS saved_low,
    max(checked.saved_high) AS saved_high
FROM advice_check AS checked
INNER JOIN advice ON advice.advice_id = checked.advice_id
WHERE
    (CAST(:cluster AS text) IS NULL OR advice.cluster = CAST(:cluster AS text))
    AND (CAST(:group AS text) IS NULL OR advice.group_id = CAST(:group AS text))
    AND checked.adopted_at <= coalesce(CAST(:until AS timestamptz), now())
    AND checked.adopted_at > coalesce(CAST(:until AS timestamptz), now())
    - make_interval(secs => 3600 * CAST(:hours AS double precision))
GROUP BY advice.cluster, advice.group_id, checked.strategy, checked.adopted_at, checked.after_seconds
HAVING count(*) FILTER (WHERE checked.measure = 'lag') > 0
ORDER BY checked.adopted_at DESC, advice.cluster, advice.group_id, checked.after_seconds;
