-- The alerts of some clusters that are still pending: how many, since when, for which channels, and the last error.
-- Alerts about unsent alerts do not count: they would keep their own incident open.
--
-- Parameters:
--   :clusters text[]  Configured names of clusters.
select
    a.cluster,
    count(*) as unsent,
    min(a.created_at) as oldest_unsent_at,
    array_agg(distinct a.channel) as unsent_channels,
    (array_agg(a.last_error order by a.alert_id) filter (where a.last_error is not null))[1]
        as unsent_error
from alert as a
left join incident as i on i.incident_id = a.incident_id
where a.cluster = any(cast(:clusters as text[]))
    and a.state = 'pending'
    and (i.kind is null or i.kind <> 'alerts unsent')
group by a.cluster
order by a.cluster;
