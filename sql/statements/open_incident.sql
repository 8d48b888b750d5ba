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
WITH opened AS (
    INSERT INTO incident (cluster, group_id, kind, severity, opened_at, last_seen_at, facts)
    VALUES (
        CAST(:cluster AS text),
        CAST(:group_id AS text),
        CAST(:kind AS text),
        CAST(:severity AS text),
        CAST(:now AS timestamptz),
        CAST(:now AS timestamptz),
        CAST(:facts AS jsonb)
    )
    ON CONFLICT DO nothing
    RETURNING incident_id, cluster
)
INSERT INTO alert (key, cluster, incident_id, kind, channel, message, state, attempts, created_at)
SELECT
    'incident ' || opened.incident_id || ' opened',
    opened.cluster,
    opened.incident_id,
    CAST(:alert_kind AS text),
    CAST(:channel AS text),
    CAST(:message AS jsonb),
    'pending',
    0,
    CAST(:now AS timestamptz)
FROM opened
WHERE CAST(:message AS jsonb) IS NOT NULL
RETURNING alert_id;
