-- How often was advice given, taken up, verified, withdrawn? One row per group and its owner, or per owner, with an event in the
-- period, those that were told most first. `confirmed` counts how often a switch was advised; `proposed`, what had won and had
-- yet to last for that. `owner`: as configured when it was advised; null: nobody, or from before that was kept.
--
-- Parameters:
--   :cluster text = null            Configured name of the cluster; null: every cluster.
--   :per text = group               group: a row per group and owner; owner: a row per owner.
--   :hours double precision = 720   How many hours to look back.
--   :until timestamptz = null       From which moment to look back; null: now.
--
-- Columns as in: advice.
-- Its own columns:
--   proposed bigint            How often a strategy had won that was not advised before.
--   confirmed bigint           How often a switch was advised, as that lasted.
--   taken_up bigint            How often the group then ran it.
--   verified bigint            How often that came as promised.
--   missed bigint              How often it came worse.
--   withdrawn bigint           How often it was withdrawn, as it paid no longer.
--   expired bigint             How often nobody took it up in time.
--   last_event_at timestamptz  When the last of that was.
SELECT
    advice.cluster,
    CASE WHEN CAST(:per AS text) = 'group' THEN advice.group_id END AS group_id,
    advice.owner,
    count(*) FILTER (WHERE event.state = 'proposed') AS proposed,
    count(*) FILTER (WHERE event.state = 'confirmed') AS confirmed,
    count(*) FILTER (WHERE event.state = 'adopted') AS taken_up,
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
ORDER BY confirmed DESC, taken_up DESC, advice.cluster, group_id, advice.owner;
