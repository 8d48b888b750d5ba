-- The last advice that each group of a cluster was notified of, by a sent or pending alert. kind: switch, withdrawn,
-- adopted, verified or missed. verdict: for alerts without a kind, switch, or stay after a switch ended. strategy:
-- null with stay. at: time of its facts. diagnosis: diagnosis of the group at that time, null in older alerts.
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
