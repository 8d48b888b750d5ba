-- One row per snapshot: how long it took, what it missed, what validation withheld, how far the steps after it came,
-- and how long after the previous one it was taken. `state`: waiting, at work, advised, rejected, or superseded: a newer one
-- was advised on in its place, and it has metrics but no advice. Whether that was late is for `watch_pipeline` to say: it knows the
-- configured stale_after_seconds.
--
-- Columns as in: snapshot.
-- Its own columns:
--   duration_seconds double precision               Seconds the reading took.
--   reading_seconds double precision                Seconds between the first and the last of its measured offsets: how far a group could move in between.
--   seconds_since_previous double precision = none  Seconds since the reading of the cluster's previous snapshot began.
--   is_newest boolean                               Whether it is the newest of its cluster.
--   request_count bigint (requests)                 Number of protocol requests it took.
--   withheld_groups bigint                          Number of its groups that validation withheld.
--   failed_steps bigint (steps)                     Number of runs of a step for it that failed.
--   seconds_to_advice double precision = none       Seconds from the beginning of its reading until its advice was stored.
--   state text                                      What became of it: waiting, at work, advised, superseded or rejected.
CREATE OR REPLACE VIEW snapshot_health AS
SELECT
    snapshot.cluster,
    snapshot.snapshot_id,
    snapshot.started_at,
    extract(epoch FROM snapshot.finished_at - snapshot.started_at)::double precision AS duration_seconds,
    -- the time in which a group could move between its first commit and its last end
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
    ) AS withheld_groups,
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
