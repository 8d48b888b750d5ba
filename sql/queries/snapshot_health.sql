-- Are snapshots taken, complete and processed? One row per snapshot, newest first. `duration_seconds` is its
-- duration, `reading_seconds` the time between its first commit and its last end offset, `seconds_since_previous` the
-- interval since the previous snapshot. `bytes_received` are those of all responses, without the overhead of TLS.
-- `state` is waiting, at work, advised, rejected or superseded (a newer snapshot got advice in its place). The view
-- of the same name has the requests by kind.
--
-- Parameters:
--   :cluster text = null   Configured name of the cluster; null for all clusters.
--   :limit integer = 20    Maximum number of rows.
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
    skipped_groups,
    rejected,
    failed_steps,
    seconds_to_advice,
    snapshot_id
FROM snapshot_health
WHERE CAST(:cluster AS text) IS NULL OR cluster = CAST(:cluster AS text)
ORDER BY started_at DESC, snapshot_id DESC
LIMIT CAST(:limit AS integer);
