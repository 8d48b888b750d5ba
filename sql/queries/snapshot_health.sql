-- Are the snapshots taken, whole, and worked on? One row per snapshot, the newest first. `duration_seconds` is the whole
-- reading, `reading_seconds` lies between its first commit and its last end, `seconds_since_previous` between two snapshots.
-- `bytes_received` are those of all responses, without what TLS adds. The view of the same name has the requests by kind as
-- well. `state`: waiting, at work, advised, rejected, or superseded, which means that a newer one was advised on in its place.
--
-- Parameters:
--   :cluster text = null   Configured name of the cluster; null: every cluster.
--   :limit integer = 20    How many rows at most.
--
-- Columns as in: snapshot_health.
SELECT
    cluster,
    started_at,
    duration_seconds,
    reading_seconds,
    seconds_since_previous,
    age_seconds,
    state,
    partial,
    problems,
    request_count,
    bytes_received,
    group_count,
    unreadable_groups,
    withheld_groups,
    rejected,
    failed_steps,
    seconds_to_advice,
    snapshot_id
FROM snapshot_health
WHERE CAST(:cluster AS text) IS NULL OR cluster = CAST(:cluster AS text)
ORDER BY started_at DESC, snapshot_id DESC
LIMIT CAST(:limit AS integer);
