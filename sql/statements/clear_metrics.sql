-- Removes the metrics that an earlier try left and the partitions of older snapshots of the cluster, notes that the
-- snapshot is measured, and says whether it is the newest one of its cluster that is: then its partitions are shown.
--
-- Parameters:
--   :snapshot_id text           The snapshot.
--   :first_read_at timestamptz  When the first of its offsets was read; null where none was.
--   :last_read_at timestamptz   When the last one was.
DELETE FROM group_metrics
WHERE snapshot_id = :snapshot_id;

DELETE FROM member_metrics
WHERE snapshot_id = :snapshot_id;

DELETE FROM partition_worst
WHERE snapshot_id = :snapshot_id;

DELETE FROM partition_latest
WHERE snapshot_id IN (
    SELECT older.snapshot_id
    FROM snapshot
    INNER JOIN snapshot AS older ON older.cluster = snapshot.cluster
    WHERE
        snapshot.snapshot_id = :snapshot_id
        AND (older.started_at, older.snapshot_id) <= (snapshot.started_at, snapshot.snapshot_id)
);

UPDATE snapshot SET
    measured_at = coalesce(measured_at, now()),
    rolled_up_at = NULL,
    thinned_at = NULL,
    first_read_at = CAST(:first_read_at AS timestamptz),
    last_read_at = CAST(:last_read_at AS timestamptz)
WHERE snapshot_id = :snapshot_id;

SELECT
    NOT EXISTS (
        SELECT FROM snapshot AS newer
        WHERE
            newer.cluster = snapshot.cluster
            AND newer.measured_at IS NOT NULL
            AND (newer.started_at, newer.snapshot_id) > (snapshot.started_at, snapshot.snapshot_id)
    ) AS newest
FROM snapshot
WHERE snapshot_id = :snapshot_id;
