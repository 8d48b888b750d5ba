-- Open an incident, unless one of the same cluster and kind is open, and queue its alert for each channel.
-- A row comes back per alert queued.
--
-- Parameters:
--   :cluster text           Configured name of the cluster.
--   :group_id text          The consumer group; null when the whole cluster is concerned.
--   :kind text              What sort of message, or of incident, it is.
--   :severity text          How bad it is.
--   :now timestamptz        The moment of looking.
--   :began_at timestamptz   When it began; null: not known.
--   :facts jsonb            What is known about it.
--   :alert_kind text        What sort of message it is.
--   :channels text[]        Where it is to be said; that of a webhook stands in the key of its alert.
--   :message jsonb          What is to be said.
WITH opened AS (
    INSERT INTO incident (cluster, group_id, kind, severity, began_at, opened_at, last_seen_at, facts)
    VALUES (
        CAST(:cluster AS text),
        CAST(:group_id AS text),
        CAST(:kind AS text),
        CAST(:severity AS text),
        CAST(:began_at AS timestamptz),
        CAST(:now AS timestamptz),
        CAST(:now AS timestamptz),
        CAST(:facts AS jsonb)
    )
    ON CONFLICT DO nothing
    RETURNING incident_id, cluster
)
INSERT INTO alert (key, cluster, incident_id, kind, channel, message, state, attempts, created_at)
SELECT
    'incident ' || opened.incident_id || ' opened' || CASE WHEN told.channel LIKE 'webhook:%' THEN ' ' || told.channel ELSE '' END,
    opened.cluster,
    opened.incident_id,
    CAST(:alert_kind AS text),
    told.channel,
    CAST(:message AS jsonb),
    'pending',
    0,
    CAST(:now AS timestamptz)
FROM opened
CROSS JOIN unnest(CAST(:channels AS text [])) AS told (channel)
RETURNING alert_id;
