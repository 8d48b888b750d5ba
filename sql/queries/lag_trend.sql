-- How did a group fare over weeks? One row per hour or day in UTC, the oldest first, also of times whose snapshots are gone. Lag is in
-- offsets; delay is how far it was behind beyond its commit interval at worst; null is unknown. `diagnosis_seconds`: of the
-- `covered_seconds`, how many each diagnosis held.
--
-- Parameters:
--   :group text                     The consumer group.
--   :cluster text = null            Configured name of the cluster; null: every cluster.
--   :per text = hour                hour or day.
--   :days integer = 7               How many days to look back.
--   :until timestamptz = null       From which moment to look back; null: now.
--
-- Plot: mean_lag, highest_delay_seconds over since, a line per cluster, group_id.
--
-- Columns as in: group_lag_trend.
SELECT
    cluster,
    since,
    lowest_lag,
    mean_lag,
    highest_lag,
    highest_delay_seconds,
    production_per_second,
    consumption_per_second,
    fewest_members,
    most_members,
    diagnosis_seconds,
    snapshots,
    covered_seconds
FROM group_lag_trend
WHERE
    per = CAST(:per AS text)
    AND group_id = CAST(:group AS text)
    AND (CAST(:cluster AS text) IS NULL OR cluster = CAST(:cluster AS text))
    AND since <= coalesce(CAST(:until AS timestamptz), now())
    AND since > coalesce(CAST(:until AS timestamptz), now()) - make_interval(days => CAST(:days AS integer))
ORDER BY cluster, since;
