-- Queue an alert. A row comes back if it is new, none if an alert of this key is there already.
--
-- Parameters:
--   :key text          Our own id of what is said.
--   :cluster text      Configured name of the cluster.
--   :snapshot_id text  The snapshot.
--   :kind text         What sort of message, or of incident, it is.
--   :channel text      Where it is to be said.
--   :message jsonb     What is to be said; null for nothing.
insert into alert (key, cluster, snapshot_id, kind, channel, message, state, attempts, created_at)
values (
    cast(:key as text),
    cast(:cluster as text),
    cast(:snapshot_id as text),
    cast(:kind as text),
    cast(:channel as text),
    cast(:message as jsonb),
    'pending',
    0,
    now()
)
on conflict (key) do nothing
returning alert_id;
