-- Queue an alert. A row comes back if it is new, none if an alert of this key is there already.
--
-- Parameters:
--   :key text           Our own id of what is said.
--   :cluster text       Configured name of the cluster.
--   :snapshot_id text   The snapshot; null: none.
--   :incident_id bigint The incident; null: it is about none, or about several.
--   :kind text          What sort of message it is.
--   :channel text       Where it is to be said.
--   :message jsonb      What is to be said.
--   :answers text       Key of the message that it answers; null: none.
--   :replaces text      Key of the message that is changed to it; null: none.
--   :broadcast boolean  Whether an answer is shown in the channel, too.
--   :state text         Whether it is pending, or superseded already.
INSERT INTO alert (
    key, cluster, snapshot_id, incident_id, kind, channel, message, answers, replaces, broadcast, state, created_at
)
VALUES (
    CAST(:key AS text),
    CAST(:cluster AS text),
    CAST(:snapshot_id AS text),
    CAST(:incident_id AS bigint),
    CAST(:kind AS text),
    CAST(:channel AS text),
    CAST(:message AS jsonb),
    CAST(:answers AS text),
    CAST(:replaces AS text),
    CAST(:broadcast AS boolean),
    CAST(:state AS text),
    now()
)
ON CONFLICT (key) DO nothing
RETURNING alert_id;
