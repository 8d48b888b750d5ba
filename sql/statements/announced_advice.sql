-- What each group of a cluster was told last, whether that alert was sent or is still pending.
-- verdict: switch, or stay once a switch was withdrawn, taken up or ended; strategy: null with stay.
--
-- Parameters:
--   :cluster text  Configured name of the cluster.
SELECT DISTINCT ON (told.group_id)
    told.group_id,
    told.verdict,
    told.strategy
FROM alert AS a
CROSS JOIN LATERAL jsonb_to_recordset(a.message -> 'told')
    AS told (group_id text, verdict text, strategy text)
WHERE a.cluster = CAST(:cluster AS text)
    AND a.kind = 'advice'
    AND a.state IN ('pending', 'sent')
ORDER BY told.group_id, a.alert_id DESC;
