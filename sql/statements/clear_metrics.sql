-- Deletes metrics of an earlier try and partitions of older snapshots of the cluster, and marks the snapshot as
-- measured. Returns whether it is the newest snapshot of its cluster with metrics, whose partitions are shown.
--
-- Parameters:
--   :snapshot_id text           Id of the snapshot.
--   :first_read_at timestamptz  Time when its first offset was read; null without one.
--   :last_read_at timestamptz   Time when its last offset was read; null without one.
DELETE FROM group_metrics
WHERE snapshot_id = :snapshot_id;

DELETE FROM member_metrics
WHERE snapshot_id = :snapshot_id;

DELETE FROM rebalance
WHERE snapshot_id = :snapshot_id;

DELETE FROM partition_worst
WHERE snapshot_id = :snapshot_id;

DELETE FROM partition_block
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
