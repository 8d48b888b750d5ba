-- How many incidents were there, and how long did they last? One row per group and owner, or per owner, with an
-- incident that was open in the period, longest first. Group and owner are null for the pipeline. wrong_seconds is
-- the time within the period, summed over incidents. median_seconds and longest_seconds are durations of whole
-- incidents; open ones count until now.
--
-- Parameters:
--   :cluster text = null            Configured name of the cluster; null for all clusters.
--   :per text = group               group: a row per group and owner; owner: a row per owner.
--   :hours double precision = 168   Length of the period in hours.
--   :until timestamptz = null       End of the period; null for now.
--
-- Columns as in: incident.
-- Its own columns:
--   incidents bigint                  Number of incidents that were open in the period.
--   critical_incidents bigint         Number of those that were critical.
--   notified_incidents bigint             Number of those that were notified.
--   open_incidents bigint             Number of those that are open now.
--   wrong_seconds double precision    Seconds of the incidents within the period, summed.
--   median_seconds double precision   Median duration of the incidents.
--   longest_seconds double precision  Longest duration of an incident.
--   last_began_at timestamptz         Start of the newest incident.
WITH period AS (
    SELECT
        coalesce(CAST(:until AS timestamptz), now()) AS ends_at,
        coalesce(CAST(:until AS timestamptz), now())
        - make_interval(secs => 3600 * CAST(:hours AS double precision)) AS begins_at
),

happened AS (
    SELECT
        cluster,
        CASE WHEN CAST(:per AS text) = 'group' THEN group_id END AS group_id,
        owner,
        severity,
        notified_at,
        closed_at,
        coalesce(began_at, opened_at) AS began_at,
        extract(epoch FROM coalesce(closed_at, now()) - coalesce(began_at, opened_at)) AS seconds,
        extract(
            epoch FROM least(closed_at, period.ends_at, now()) - greatest(coalesce(began_at, opened_at), period.begins_at)
        ) AS seconds_within
    FROM incident
    CROSS JOIN period
    WHERE
        coalesce(began_at, opened_at) <= period.ends_at
        AND (closed_at IS NULL OR closed_at >= period.begins_at)
)

SELECT
    cluster,
    group_id,
    count(*) AS incidents,
    sum(seconds_within)::double precision AS wrong_seconds,
    count(*) FILTER (WHERE closed_at IS NULL) AS open_incidents,
    count(*) FILTER (WHERE severity = 'critical') AS critical_incidents,
    max(seconds)::double precision AS longest_seconds,
    owner,
    count(notified_at) AS notified_incidents,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds::double precision) AS median_seconds,
    max(began_at) AS last_began_at
FROM happened
WHERE CAST(:cluster AS text) IS NULL OR cluster = CAST(:cluster AS text)
GROUP BY cluster, group_id, owner
ORDER BY wrong_seconds DESC, cluster, group_id;
