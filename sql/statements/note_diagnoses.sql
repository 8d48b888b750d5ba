-- Stores the changed diagnoses of groups in the newest snapshot with metrics of its cluster, after a rollback of an
-- earlier try.
--
-- Parameters:
--   :snapshot_id text  Id of the snapshot.
DELETE FROM diagnosis_span AS span USING snapshot
WHERE
    snapshot.snapshot_id = :snapshot_id
    AND span.cluster = snapshot.cluster
    AND span.until IS NULL
    AND span.since = snapshot.started_at;

UPDATE diagnosis_span AS span SET until = NULL
FROM snapshot
WHERE
    snapshot.snapshot_id = :snapshot_id
    AND span.cluster = snapshot.cluster
    AND span.until = snapshot.started_at
    AND span.since < snapshot.started_at;

UPDATE diagnosis_span AS span SET until = greatest(snapshot.started_at, span.since)
FROM group_metrics AS metrics
INNER JOIN snapshot ON snapshot.snapshot_id = metrics.snapshot_id
WHERE
    metrics.snapshot_id = :snapshot_id
    AND span.cluster = metrics.cluster
    AND span.group_id = metrics.group_id
    AND span.until IS NULL
    AND span.diagnosis <> coalesce(metrics.diagnosis, 'unknown');

INSERT INTO diagnosis_span (cluster, group_id, diagnosis, since, already_so)
SELECT
    metrics.cluster,
    metrics.group_id,
    coalesce(metrics.diagnosis, 'unknown'),
    snapshot.started_at,
    NOT EXISTS (
        SELECT FROM diagnosis_span AS earlier
        WHERE earlier.cluster = metrics.cluster AND earlier.group_id = metrics.group_id
    )
FROM group_metrics AS metrics
INNER JOIN snapshot ON snapshot.snapshot_id = metrics.snapshot_id
WHERE
    metrics.snapshot_id = :snapshot_id
    AND NOT EXISTS (
        SELECT FROM diagnosis_span AS span
        WHERE span.cluster = metrics.cluster AND span.group_id = metrics.group_id AND span.until IS NULL
    )
-- a repeated measurement replaces its earlier result
ON CONFLICT (cluster, group_id, since) DO UPDATE SET
    diagnosis = excluded.diagnosis,
    until = NULL;
