-- How much cross-rack traffic was there per day, and what did it cost? One row per day in UTC and group, or cluster,
-- with a known value, oldest first. Gigabytes are 10^9 bytes read from another rack; the cost is at the price_per_gb
-- configured at that time. Null is unknown. `known_share` is the known part of the time that snapshots cover; bytes
-- and cost are those of that part.
--
-- Parameters:
--   :cluster text = null            Configured name of the cluster; null for all clusters.
--   :group text = null              Consumer group; null for all groups.
--   :per text = group               group: a row per day and group; cluster: one per day, of all groups.
--   :days integer = 30              Length of the period in days.
--   :until timestamptz = null       Moment on the last day of the period; null for now.
--
-- Plot: cross_rack_gigabytes, cross_rack_cost over day, a line per cluster, group_id.
--
-- Columns as in: rack_cost_daily.
-- Its own columns:
--   known_share double precision  Share of the covered time with known traffic.
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
