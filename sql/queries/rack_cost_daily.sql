-- What crossed racks per day, and what did that cost? One row per day in UTC and group, or cluster, of which anything is known, the
-- oldest first. Gigabytes are 10^9 bytes read from another rack, the cost is at the price_per_gb then configured; null is
-- unknown. `known_share`: of how much of the time that snapshots cover it is known; bytes and cost are of that part alone.
--
-- Parameters:
--   :cluster text = null            Configured name of the cluster; null: every cluster.
--   :group text = null              The consumer group; null: every group.
--   :per text = group               group: a row per day and group; cluster: one per day, of all groups.
--   :days integer = 30              How many days to look back.
--   :until timestamptz = null       The moment on whose day the period ends; null: now.
--
-- Plot: cross_rack_gigabytes, cross_rack_cost over day, a line per cluster, group_id.
--
-- Columns as in: rack_cost_daily.
-- Its own columns:
--   known_share double precision  Of how much of the time that is known.
SELECT
    cluster,
    CASE WHEN CAST(:per AS text) = 'group' THEN group_id END AS group_id,
    day,
    sum(cross_rack_gigabytes) AS cross_rack_gigabytes,
    CASE WHEN count(DISTINCT currency) = 1 THEN sum(cross_rack_cost) END AS cross_rack_cost,
    CASE WHEN count(DISTINCT currency) = 1 THEN min(currency) END AS currency,
    sum(cross_rack_seconds) / nullif(sum(covered_seconds), 0) AS known_share
FROM rack_cost_daily
WHERE
    cross_rack_bytes IS NOT NULL
    AND (CAST(:cluster AS text) IS NULL OR cluster = CAST(:cluster AS text))
    AND (CAST(:group AS text) IS NULL OR group_id = CAST(:group AS text))
    AND day <= coalesce(CAST(:until AS timestamptz), now())
    AND day > coalesce(CAST(:until AS timestamptz), now()) - make_interval(days => CAST(:days AS integer))
GROUP BY cluster, CASE WHEN CAST(:per AS text) = 'group' THEN group_id END, day
ORDER BY day, cluster, cross_rack_gigabytes DESC, group_id;
