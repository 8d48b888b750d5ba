-- What each group of a cluster was told last, whether that alert was sent or is still pending.
-- verdict: switch, or stay once a switch was withdrawn or taken up; strategy: null with stay.
--
-- Parameters:
--   :cluster text  Configured name of the cluster.
select distinct on (told.group_id)
    told.group_id,
    told.verdict,
    told.strategy
from alert as a
cross join lateral jsonb_to_recordset(a.message -> 'told')
    as told (group_id text, verdict text, strategy text)
where a.cluster = cast(:cluster as text)
    and a.kind = 'advice'
    and a.state in ('pending', 'sent')
order by told.group_id, a.alert_id desc;
