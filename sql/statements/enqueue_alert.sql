-- Queue an alert. A row comes back if it is new, none if an alert of this key is there already.
--
-- Parameters:
--   :key text          Our own id of what is said.
--   :cluster text      Configured name of the cluster.
--   :snapshot_id text  The snapshot.
--   :kind text         What sort of message, or of incident, it is.
--   :channel text      Where it is to be said.
--   :message jsonb     What is to be said; null for nothing.
INSERT INTO alert (key, cluster, snapshot_id, kind, channel, message, state, attempts, created_at)
VALUES (
    CAST(:key AS text),
    CAST(:cluster AS text),
    CAST(:snapshot_id AS text),
    CAST(:kind AS text),
    CAST(:channel AS text),
    CAST(:message AS jsonb),
    'pending',
    0,
    now()
)
ON CONFLICT (key) DO nothing
RETURNING alert_id;
