-- Snapshots without advice, oldest first: accepted or not yet validated, not superseded, and old enough.
--
-- Parameters:
--   :older_than_seconds double precision = 120  Minimum age in seconds since it was written.
SELECT
    snapshot_id,
    cluster,
    started_at,
    claimed_by
FROM snapshot
WHERE
    advised_at IS NULL
    AND rejected IS NOT TRUE
    AND NOT EXISTS (
        SELECT 1 FROM snapshot AS newer
        WHERE newer.snapshot_id = snapshot.superseded_by AND newer.rejected IS NOT TRUE
    )
    AND written_at < now() - make_interval(secs => CAST(:older_than_seconds AS double precision))
ORDER BY started_at, snapshot_id;
