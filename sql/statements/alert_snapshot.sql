-- One snapshot as its alert needs it, and which snapshot of the same cluster is the newest. No row: unknown snapshot.
--
-- Parameters:
--   :snapshot_id text  The snapshot.
SELECT
    s.snapshot_id,
    s.cluster,
    s.started_at,
    s.finished_at,
    s.partial,
    s.problems,
    (
        SELECT newest.snapshot_id
        FROM snapshot AS newest
        WHERE newest.cluster = s.cluster
        ORDER BY newest.started_at DESC, newest.snapshot_id DESC
        LIMIT 1
    ) AS newest_snapshot_id
FROM snapshot AS s
WHERE s.snapshot_id = CAST(:snapshot_id AS text);
