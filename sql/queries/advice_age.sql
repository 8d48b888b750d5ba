-- How long does a snapshot wait for its advice? One row per snapshot, newest first. `advised_after_seconds` is the
-- time from the start of the snapshot to the first advice for it or a newer one, or to now without such advice.
-- `waited_seconds` ends when a run claims the snapshot, `run_seconds` is the time of that run. `superseded_by` is the
-- newer snapshot that got advice in its place.
--
-- Parameters:
--   :cluster text = null           Configured name of the cluster; null for all clusters.
--   :hours double precision = 1    Length of the period in hours.
--   :until timestamptz = null      End of the period; null for now.
--
-- Plot: advised_after_seconds over started_at, a line per cluster.
--
-- Columns as in: snapshot_health.
-- Its own columns:
--   advised_after_seconds double precision  Seconds from its start to the first advice for it or a newer one, or to now.
--   waited_seconds double precision = none  Seconds from its start until a run claimed it.
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
    AND health.started_at <= coalesce(CAST(:until AS timestamptz), now())
    AND health.started_at >= coalesce(CAST(:until AS timestamptz), now())
    - make_interval(secs => 3600 * CAST(:hours AS double precision))
ORDER BY health.started_at DESC, health.snapshot_id DESC;
