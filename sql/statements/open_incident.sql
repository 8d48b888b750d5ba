-- Open an incident, unless one of the same cluster, group and kind is open, and queue its alert if there is a message.
-- A row comes back per alert queued.
--
-- Parameters:
--   :cluster text     Configured name of the cluster.
--   :group_id text    The consumer group; null when the whole cluster is concerned.
--   :kind text        What sort of message, or of incident, it is.
--   :severity text    How bad it is.
--   :now timestamptz  The moment of looking.
--   :facts jsonb      What is known about it.
--   :alert_kind text  What sort of message it is.
--   :channel text     Where it is to be said.
--   :message jsonb    What is to be said; null for nothing.
with opened as (
    insert into incident (cluster, group_id, kind, severity, opened_at, last_seen_at, facts)
    values (
        cast(:cluster as text),
        cast(:group_id as text),
        cast(:kind as text),
        cast(:severity as text),
        cast(:now as timestamptz),
        cast(:now as timestamptz),
        cast(:facts as jsonb)
    )
    on conflict do nothing
    returning incident_id, cluster
)
insert into alert (key, cluster, incident_id, kind, channel, message, state, attempts, created_at)
select
    'incident ' || opened.incident_id || ' opened',
    opened.cluster,
    opened.incident_id,
    cast(:alert_kind as text),
    cast(:channel as text),
    cast(:message as jsonb),
    'pending',
    0,
    cast(:now as timestamptz)
from opened
where cast(:message as jsonb) is not null
returning alert_id;
