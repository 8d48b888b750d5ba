-- Which groups is nobody woken for, and why? One row per silence, acknowledgement and maintenance window that has begun:
-- what holds, then what is to come, then what was over lately.
--
-- Parameters:
--   :cluster text = null           Configured name of a cluster that they cover; null: every cluster.
--   :hours double precision = 168  How many hours to look back for what is over.
--
-- Columns as in: silence.
-- Its own columns:
--   state text                              How far it has come.
--   covered_groups bigint = none            Number of groups that it covers in the newest snapshots; null: it is over.
--   covered_incidents bigint (rows) = none  Number of their incidents that are open; null: it is over.
SELECT
    silence.silence_id,
    silence.kind,
    course.state,
    silence.cluster,
    silence.groups,
    silence.starts_at,
    silence.ends_at,
    silence.ended_at,
    silence.who,
    silence.reason,
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
    AND course.over_at > now() - make_interval(secs => 3600 * CAST(:hours AS double precision))
ORDER BY array_position(ARRAY['holds', 'to come', 'over'], course.state), silence.starts_at DESC, silence.silence_id DESC;
