-- The groups of a cluster are looked at in a snapshot, or its pipeline at a moment. A row comes back if it is younger than all before, and no
-- other was looked at since it was worked out. What was looked at in the future, by a clock that was ahead, gives way.
--
-- Parameters:
--   :cluster text      Configured name of the cluster.
--   :subject text      What is watched: groups, or pipeline.
--   :snapshot_id text  The snapshot.
--   :at timestamptz    When its reading ended.
--   :ahead_seconds double precision  How far ahead of now a row may be that holds off others.
--   :before text       The snapshot of the watch that it was worked out from; null where there was none.
INSERT INTO incident_watch AS w (cluster, subject, snapshot_id, at, first_at)
SELECT
    CAST(:cluster AS text),
    CAST(:subject AS text),
    CAST(:snapshot_id AS text),
    CAST(:at AS timestamptz),
    CAST(:at AS timestamptz)
WHERE
    -- a watch that was forgotten meanwhile does not come back
    CAST(:before AS text) IS NULL
    OR EXISTS (
        SELECT 1 FROM incident_watch AS there
        WHERE there.cluster = CAST(:cluster AS text) AND there.subject = CAST(:subject AS text)
    )
ON CONFLICT (cluster, subject) DO UPDATE SET
    snapshot_id = excluded.snapshot_id,
    at = excluded.at,
    first_at = least(w.first_at, excluded.at)
WHERE
    (w.at < excluded.at OR w.at > now() + make_interval(secs => CAST(:ahead_seconds AS double precision)))
    AND w.snapshot_id = CAST(:before AS text)
RETURNING w.cluster;
