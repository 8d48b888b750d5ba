-- Which groups are silenced, and why? One row per silence, acknowledgement and maintenance window: active ones first,
-- then future ones, then ended ones. With `until`, only those that were active in the period are listed.
--
-- Parameters:
--   :cluster text = null           Configured name of a cluster that they cover; null for all clusters.
--   :hours double precision = 168  Length of the period in hours; those that ended before it are not listed.
--   :until timestamptz = null      End of the period; null for now, with future ones.
--
-- Columns as in: silence.
-- Its own columns:
--   state text                              State of the silence.
--   covered_groups bigint = none            Number of groups in the newest snapshots that it covers; null if it ended.
--   covered_incidents bigint (rows) = none  Number of open incidents that it covers; null if it ended.
SELECT
    silence.silence_id,
    silence.kind,
    course.state,
    silence.cluster,
    silence.groups,
    silence.ends_at,
    silence.who,
    silence.reason,
    silence.starts_at,
    silence.ended_at,
    CASE
        WHEN course.state <> 'over'
            THEN (
                SELECT count(*) FROM latest_lag AS lag
                WHERE lag.cluster ~ silence.cluster_regex AND lag.group_id ~ silence.groups_regex
            )
    END AS covered_groups,
    CASE
        WHEN course.state <> 'over'
            THEN (
                SELECT count(*) FROM incident
                WHERE
                    incident.closed_at IS NULL
                    AND incident.cluster ~ silence.cluster_regex
                    AND incident.group_id ~ silence.groups_regex
                    AND (silence.kind <> 'ack' OR incident.opened_at <= silence.starts_at)
            )
    END AS covered_incidents,
    silence.channels
FROM silence
CROSS JOIN LATERAL (
    SELECT
        coalesce(least(silence.ends_at, silence.ended_at), 'infinity') AS over_at,
        CASE
            WHEN least(silence.ends_at, silence.ended_at) <= now() THEN 'over'
            WHEN silence.starts_at > now() THEN 'to come'
            ELSE 'holds'
        END AS state
) AS course
WHERE
    (CAST(:cluster AS text) IS NULL OR CAST(:cluster AS text) ~ silence.cluster_regex)
    AND (CAST(:until AS timestamptz) IS NULL OR silence.starts_at <= CAST(:until AS timestamptz))
    AND course.over_at > coalesce(CAST(:until AS timestamptz), now())
    - make_interval(secs => 3600 * CAST(:hours AS double precision))
ORDER BY array_position(ARRAY['holds', 'to come', 'over'], course.state), silence.starts_at DESC, silence.silence_id DESC;
