-- The incidents that are open now.
select incident_id, cluster, group_id, kind, severity, opened_at, last_seen_at, closed_at, facts
from incident
where closed_at is null
order by incident_id;
