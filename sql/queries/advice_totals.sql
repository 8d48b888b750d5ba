-- How often was advice given, adopted, verified or withdrawn? One row per group and owner, or per owner, with an
-- event in the period, most advised first. `confirmed` counts advised switches, `proposed` strategies without
-- enough evidence yet. `owner` is the owner at the time of the advice; null if none was configured.
--
-- Parameters:
--   :cluster text = null            Configured name of the cluster; null for all clusters.
--   :per text = group               group: a row per group and owner; owner: a row per owner.
--   :hours double precision = 720   Length of the period in hours.
--   :until timestamptz = null       End of the period; null for now.
--
-- Columns as in: advice.
-- Its own columns:
--   proposed bigint            Number of new proposals.
--   confirmed bigint           Number of advised switches.
--   adopted bigint            Number of adoptions.
--   verified bigint            Number of adoptions that helped, or met their forecast.
--   missed bigint              Number of adoptions that did not help, or missed their forecast.
--   withdrawn bigint           Number of advised switches that were withdrawn, because the strategy would no longer help.
--   expired bigint             Number of advised switches that were not adopted in time.
--   last_event_at timestamptz  Time of the last of these events.
SELECT
    advice.cluster,
    CASE WHEN CAST(:per AS text) = 'group' THEN advice.group_id END AS group_id,
    advice.owner,
    count(*) FILTER (WHERE event.state = 'proposed') AS proposed,
    count(*) FILTER (WHERE event.state = 'confirmed') AS confirmed,
    count(*) FILTER (WHERE event.state = 'adopted') AS adopted,
    count(*) FILTER (WHERE event.state = 'verified') AS verified,
    count(*) FILTER (WHERE event.state = 'missed') AS missed,
    count(*) FILTER (WHERE event.state = 'withdrawn') AS withdrawn,
    count(*) FILTER (WHERE event.state = 'expired') AS expired,
    max(event.at) AS last_event_at
FROM advice_event AS event
INNER JOIN advice ON advice.advice_id = event.advice_id
WHERE
    (CAST(:cluster AS text) IS NULL OR advice.cluster = CAST(:cluster AS text))
    AND event.at <= coalesce(CAST(:until AS timestamptz), now())
    AND event.at > coalesce(CAST(:until AS timestamptz), now())
    - make_interval(secs => 3600 * CAST(:hours AS double precision))
GROUP BY advice.cluster, CASE WHEN CAST(:per AS text) = 'group' THEN advice.group_id END, advice.owner
ORDER BY confirmed DESC, adopted DESC, advice.cluster, group_id, advice.owner;
