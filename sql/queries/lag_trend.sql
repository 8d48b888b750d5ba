-- How did the lag of a group change over weeks? One row per hour or day in UTC, oldest first, including periods whose
-- snapshots are deleted. Lag is in offsets. The delay columns are the maximum time lag beyond the commit interval.
-- `diagnosis_seconds` are the `covered_seconds` by diagnosis. Null is unknown.
--
-- Parameters:
--   :group text                     Consumer group.
--   :cluster text = null            Configured name of the cluster; null for all clusters.
--   :per text = hour                hour or day.
--   :days integer = 7               Length of the period in days.
--   :until timestamptz = null       End of the period; null for now.
--
-- Plot: mean_lag, highest_delay_seconds over since, a line per cluster, group_id.
--
-- Columns as in: group_lag_trend.
SELECT
    cluster,
    since,
    mean_lag,
    highest_lag,
    highest_delay_seconds,
    consumption_per_second,
    production_per_second,
    lowest_lag,
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
