-- How long after a snapshot does its advice come? One row per snapshot, the newest first.
-- `advised_after_seconds` lies between the beginning of the reading and the first advice stored for this snapshot or a newer
-- one: of one without such advice, its age until now. `waited_seconds`: until a run took it up; `run_seconds`: from then until
-- its advice was stored. `state` as in `snapshot_health`; `superseded_by` is the newer snapshot that was advised on in its place.
--
-- Parameters:
--   :cluster text = null           Configured name of the cluster; null: every cluster.
--   :hours double precision = 1    How many hours to look back.
--
-- Plot: advised_after_seconds over started_at, a line per cluster.
--
-- Columns as in: snapshot_health.
-- Its own columns:
--   advised_after_seconds double precision  Seconds from the beginning of its reading until the first advice on it or a newer one, or until now.
--   waited_seconds double precision = none  Seconds until a run took it up.
--   run_seconds double precision = none     Seconds from then until its advice was stored.
SELECT
    health.cluster,
    health.started_at,
    health.state,
    extract(
        epoch FROM coalesce(
            (
                SELECT min(any_of.advised_at) FROM snapshot AS any_of
                WHERE any_of.cluster = health.cluster AND any_of.started_at >= health.started_at
            ),
            now()
        ) - health.started_at
    )::double precision AS advised_after_seconds,
    extract(epoch FROM health.adopted_at - health.started_at)::double precision AS waited_seconds,
    extract(epoch FROM health.advised_at - health.adopted_at)::double precision AS run_seconds,
    health.seconds_since_previous,
    health.superseded_by,
    health.snapshot_id
FROM snapshot_health AS health
WHERE
    (CAST(:cluster AS text) IS NULL OR health.cluster = CAST(:cluster AS text))
    AND health.started_at >= now() - make_interval(secs => 3600 * CAST(:hours AS double precision))
ORDER BY health.started_at DESC, health.snapshot_id DESC;
