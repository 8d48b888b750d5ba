-- Inserts or updates the incidents of the groups of a cluster, or of its pipeline, and resolves the other open ones.
-- A resolved incident keeps its causes.
--
-- Parameters:
--   :cluster text     Configured name of the cluster.
--   :subject text     Subject: groups or pipeline.
--   :at timestamptz   End of the snapshot.
--   :incidents jsonb  A list of incidents.
SELECT incident_id FROM incident
WHERE
    cluster = CAST(:cluster AS text)
    AND (group_id IS NULL) = (CAST(:subject AS text) = 'pipeline')
    AND (
        closed_at IS NULL
        OR key IN (SELECT new.key FROM jsonb_to_recordset(CAST(:incidents AS jsonb)) AS new (key text))
    )
ORDER BY incident_id
FOR UPDATE;

UPDATE incident
SET closed_at = CAST(:at AS timestamptz)
WHERE
    cluster = CAST(:cluster AS text)
    AND (group_id IS NULL) = (CAST(:subject AS text) = 'pipeline')
    AND closed_at IS NULL
    AND NOT EXISTS (
        SELECT 1 FROM jsonb_to_recordset(CAST(:incidents AS jsonb)) AS new (key text)
        WHERE new.key = incident.key
    );

INSERT INTO incident (
    cluster, group_id, key, kind, severity, began_at, opened_at, last_seen_at, closed_at, alert_key, owner,
    summary, causes, good_snapshot_id, facts
)
SELECT
    new.cluster,
    new.group_id,
    new.key,
    new.kind,
    new.severity,
    new.began_at,
    new.opened_at,
    new.last_seen_at,
    new.closed_at,
    new.alert_key,
    new.owner,
    new.summary,
    new.causes,
    new.good_snapshot_id,
    new.facts
FROM jsonb_to_recordset(CAST(:incidents AS jsonb)) AS new (
    cluster text, group_id text, key text, kind text, severity text, began_at timestamptz,
    opened_at timestamptz, last_seen_at timestamptz, closed_at timestamptz, alert_key text, owner text,
    summary text, causes jsonb, good_snapshot_id text, facts jsonb
)
ORDER BY new.closed_at IS NULL
ON CONFLICT (key) DO UPDATE SET
    kind = excluded.kind,
    severity = excluded.severity,
    began_at = excluded.began_at,
    last_seen_at = excluded.last_seen_at,
    closed_at = excluded.closed_at,
    alert_key = excluded.alert_key,
    owner = excluded.owner,
    summary = CASE WHEN excluded.closed_at IS NULL THEN excluded.summary ELSE incident.summary END,
    causes = CASE WHEN excluded.closed_at IS NULL THEN excluded.causes ELSE incident.causes END,
    good_snapshot_id = excluded.good_snapshot_id,
    facts = excluded.facts;
