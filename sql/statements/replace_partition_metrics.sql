-- Keeps each group's 20 worst of the staged partition metrics, and all of them instead of the cluster's former ones,
-- unless a newer snapshot of the cluster has been measured.
--
-- Parameters:
--   :snapshot_id text  The snapshot.
DELETE FROM partition_worst
WHERE snapshot_id = :snapshot_id;

-- by name, so that a column that is added to both tables needs no mention here
INSERT INTO partition_worst
SELECT ranked.*
FROM (
    SELECT
        to_jsonb(staged)
        || jsonb_build_object(
            'place', row_number() OVER (PARTITION BY group_id ORDER BY lag DESC NULLS LAST, topic, partition)
        ) AS named
    FROM staged_partition_metrics AS staged
) AS placed
CROSS JOIN LATERAL jsonb_populate_record(NULL::partition_worst, named) AS ranked
WHERE ranked.place <= 20;

DELETE FROM partition_latest
WHERE snapshot_id IN (
    SELECT older.snapshot_id
    FROM snapshot
    INNER JOIN snapshot AS older ON older.cluster = snapshot.cluster
    WHERE
        snapshot.snapshot_id = :snapshot_id
        AND (older.started_at, older.snapshot_id) <= (snapshot.started_at, snapshot.snapshot_id)
);

INSERT INTO partition_latest
SELECT * FROM staged_partition_metrics
WHERE NOT EXISTS (
    SELECT FROM snapshot
    INNER JOIN snapshot AS newer ON newer.cluster = snapshot.cluster
    WHERE
        snapshot.snapshot_id = :snapshot_id
        AND newer.measured_at IS NOT NULL
        AND (newer.started_at, newer.snapshot_id) > (snapshot.started_at, snapshot.snapshot_id)
);

UPDATE snapshot SET
    measured_at = coalesce(measured_at, now()),
    first_read_at = (SELECT least(min(committed_at), min(end_at)) FROM staged_partition_metrics),
    last_read_at = (SELECT greatest(max(committed_at), max(end_at)) FROM staged_partition_metrics)
WHERE snapshot_id = :snapshot_id;
