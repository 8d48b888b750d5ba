-- What each group of a cluster was told last of an advice, whether that alert was sent or is still pending.
-- kind: switch, withdrawn, taken up, verified or missed; verdict: of older alerts in place of a kind, switch, or stay
-- once a switch was withdrawn, adopted or over; strategy: null with stay; at: when it was true; diagnosis: what was
-- the matter with the group then, null in older alerts.
--
-- Parameters:
--   :cluster text  Configured name of the cluster.
SELECT DISTINCT ON (told.group_id)
    told.group_id,
    told.kind,
    told.verdict,
    told.strategy,
    told.diagnosis,
    CAST(a.message ->> 'at' AS timestamptz) AS at
FROM alert AS a
CROSS JOIN LATERAL jsonb_to_recordset(a.message -> 'told')
    AS told (group_id text, kind text, verdict text, strategy text, diagnosis text)
WHERE a.cluster = CAST(:cluster AS text)
    AND a.kind = 'advice'
    AND a.state IN ('pending', 'sent')
ORDER BY told.group_id, a.alert_id DESC;
