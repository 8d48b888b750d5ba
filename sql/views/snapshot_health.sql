-- One row per snapshot: duration, read errors, groups skipped by validation, progress through the steps and interval
-- since the previous snapshot. `state` is waiting, at work, advised, rejected or superseded. A superseded snapshot
-- has metrics but no advice, because a newer one got it. `watch_pipeline` reports stale snapshots, by the configured
-- stale_after_seconds.
--
-- Columns as in: snapshot.
-- Its own columns:
--   duration_seconds double precision               Duration of the snapshot in seconds.
--   reading_seconds double precision                Seconds between its first and its last measured offset.
--   seconds_since_previous double precision = none  Seconds since the start of the previous snapshot of the cluster.
--   is_newest boolean                               True if it is the newest snapshot of its cluster.
--   request_count bigint (requests)                 Number of protocol requests.
--   skipped_groups bigint                          Number of groups that were skipped by validation.
--   failed_steps bigint (steps)                     Number of failed step runs.
--   seconds_to_advice double precision = none       Seconds from its start until its advice was stored.
--   state text                                      Progress: waiting, at work, advised, superseded or rejected.
CREATE OR REPLACE VIEW snapshot_health AS
SELECT
    snapshot.cluster,
    snapshot.snapshot_id,
    snapshot.started_at,
    extract(epoch FROM snapshot.finished_at - snapshot.started_at)::double precision AS duration_seconds,
    -- time between the first commit and the last end offset
    extract(epoch FROM snapshot.last_read_at - snapshot.first_read_at)::double precision AS reading_seconds,
    extract(
        epoch FROM snapshot.started_at - (
            SELECT max(previous.started_at) FROM snapshot AS previous
            WHERE
                previous.cluster = snapshot.cluster
                AND (previous.started_at, previous.snapshot_id) < (snapshot.started_at, snapshot.snapshot_id)
        )
    )::double precision AS seconds_since_previous,
    extract(epoch FROM now() - snapshot.started_at)::double precision AS age_seconds,
    snapshot.snapshot_id = newest.taken AS is_newest,
    snapshot.partial,
    snapshot.problems,
    (SELECT sum(value::bigint)::bigint FROM jsonb_each_text(snapshot.requests)) AS request_count,
    snapshot.requests,
    snapshot.group_count,
    (
        SELECT count(DISTINCT group_id) FROM validation
        WHERE validation.snapshot_id = snapshot.snapshot_id AND NOT success AND severity = 'critical'
    ) AS skipped_groups,
    snapshot.rejected,
    (
        SELECT count(*) FROM step_run
        WHERE step_run.snapshot_id = snapshot.snapshot_id AND outcome = 'failed'
    ) AS failed_steps,
    snapshot.written_at,
    snapshot.validated_at,
    snapshot.measured_at,
    snapshot.proposed_at,
    snapshot.advised_at,
    extract(epoch FROM snapshot.advised_at - snapshot.started_at)::double precision AS seconds_to_advice,
    snapshot.unreadable_groups,
    snapshot.bytes_sent,
    snapshot.bytes_received,
    CASE
        WHEN snapshot.advised_at IS NOT NULL THEN 'advised'
        WHEN snapshot.rejected THEN 'rejected'
        WHEN overtaking.snapshot_id IS NOT NULL AND overtaking.rejected IS NOT TRUE THEN 'superseded'
        WHEN snapshot.adopted_at IS NOT NULL THEN 'at work'
        ELSE 'waiting'
    END AS state,
    snapshot.superseded_by,
    snapshot.adopted_at,
    snapshot.claimed_by
FROM snapshot
INNER JOIN newest_snapshot AS newest ON newest.cluster = snapshot.cluster
LEFT JOIN snapshot AS overtaking ON overtaking.snapshot_id = snapshot.superseded_by;
