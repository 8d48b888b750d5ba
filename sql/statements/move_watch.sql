-- Stores the evaluation of the groups of a cluster in a snapshot, or of its pipeline at a moment. Returns a row if it
-- is newer than all before and based on the last one. An evaluation in the future, by a clock that was ahead, is
-- replaced.
--
-- Parameters:
--   :cluster text      Configured name of the cluster.
--   :subject text      Subject: groups or pipeline.
--   :snapshot_id text  Id of the snapshot.
--   :at timestamptz    End of the snapshot.
--   :ahead_seconds double precision  Maximum seconds in the future of a stored evaluation that blocks others.
--   :before text       Snapshot of the evaluation that it is based on; null for the first one.
INSERT INTO incident_watch AS w (cluster, subject, snapshot_id, at, first_at)
SELECT
    CAST(:cluster AS text),
    CAST(:subject AS text),
    CAST(:snapshot_id AS text),
    CAST(:at AS timestamptz),
    CAST(:at AS timestamptz)
WHERE
    -- a deleted row is not inserted again
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
