-- Superseded snapshots of the last day before a snapshot of the same cluster that have no metrics yet, newest first,
-- and whether they are validated.
--
-- Parameters:
--   :snapshot_id text    Id of the snapshot.
--   :limit integer = 50  Maximum number of rows.
SELECT
    s.snapshot_id,
    s.validated_at IS NOT NULL AS validated
FROM snapshot AS s
INNER JOIN snapshot AS newer ON newer.cluster = s.cluster AND newer.snapshot_id = :snapshot_id
WHERE
    s.superseded_by IS NOT NULL
    AND s.advised_at IS NULL
    AND s.measured_at IS NULL
    AND s.rejected IS NOT TRUE
    AND (s.started_at, s.snapshot_id) < (newer.started_at, newer.snapshot_id)
    AND s.started_at > newer.started_at - INTERVAL '1 day'
ORDER BY s.started_at DESC, s.snapshot_id DESC
LIMIT CAST(:limit AS integer);
