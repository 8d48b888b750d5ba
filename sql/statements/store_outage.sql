-- Write an incident that is over, which was told outside of the outbox, with what was told as an alert that was sent.
-- A row comes back unless an incident of that key is there already.
--
-- Parameters:
--   :key text                The incident's own id.
--   :cluster text            Which clusters it concerns.
--   :kind text               What sort of incident it is.
--   :severity text           How bad it is.
--   :began_at timestamptz    When it began.
--   :opened_at timestamptz   When it was told.
--   :closed_at timestamptz   When it was over.
--   :facts jsonb             What is known about it.
--   :channel text            Where it is told.
--   :opened_key text         Key of what was told.
--   :opened_kind text        What sort of message that is.
--   :opened jsonb            That message.
--   :sent_channel text       The messenger's own id of where it is.
--   :sent_timestamp text     The messenger's own id of the message.
WITH kept AS (
    INSERT INTO incident (
        cluster, key, kind, severity, began_at, opened_at, last_seen_at, closed_at, told_at, alert_key, facts
    )
    VALUES (
        CAST(:cluster AS text),
        CAST(:key AS text),
        CAST(:kind AS text),
        CAST(:severity AS text),
        CAST(:began_at AS timestamptz),
        CAST(:opened_at AS timestamptz),
        CAST(:closed_at AS timestamptz),
        CAST(:closed_at AS timestamptz),
        CAST(:opened_at AS timestamptz),
        CAST(:opened_key AS text),
        CAST(:facts AS jsonb)
    )
    ON CONFLICT (key) DO nothing
    RETURNING incident_id, cluster
),

told AS (
    INSERT INTO alert (
        key, cluster, incident_id, kind, channel, message, state, attempts, created_at, sent_at, sent_channel,
        sent_timestamp
    )
    SELECT
        CAST(:opened_key AS text),
        kept.cluster,
        kept.incident_id,
        CAST(:opened_kind AS text),
        CAST(:channel AS text),
        CAST(:opened AS jsonb),
        'sent',
        1,
        CAST(:opened_at AS timestamptz),
        CAST(:opened_at AS timestamptz),
        CAST(:sent_channel AS text),
        CAST(:sent_timestamp AS text)
    FROM kept
)

SELECT incident_id FROM kept;
