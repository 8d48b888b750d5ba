-- Close an incident and queue the alert about its end; an opening that was never sent is superseded by it.
-- A row comes back if it was open until now.
--
-- Parameters:
--   :now timestamptz     The moment of looking.
--   :incident_id bigint  The incident.
--   :alert_kind text     What sort of message it is.
--   :channel text        Where it is to be said.
--   :message jsonb       What is to be said; null for nothing.
with closed as (
    update incident
    set closed_at = cast(:now as timestamptz)
    where incident_id = cast(:incident_id as bigint) and closed_at is null
    returning incident_id, cluster
),

superseded as (
    update alert
    set state = 'superseded'
    from closed
    where alert.incident_id = closed.incident_id and alert.state = 'pending'
)

insert into alert (key, cluster, incident_id, kind, channel, message, state, attempts, created_at)
select
    'incident ' || closed.incident_id || ' closed',
    closed.cluster,
    closed.incident_id,
    cast(:alert_kind as text),
    cast(:channel as text),
    cast(:message as jsonb),
    'pending',
    0,
    cast(:now as timestamptz)
from closed
returning alert_id;
