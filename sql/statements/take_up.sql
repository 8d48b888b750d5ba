-- Claims for a run the newest snapshot of a cluster that waits for advice, and marks all other waiting ones as
-- superseded by it. A run gets its own claim again. Returns the snapshot; no row if none waits, or if another run has
-- it. A snapshot from the future, by a clock that was ahead, keeps no other from its advice.
--
-- Parameters:
--   :cluster text   Configured name of the cluster.
--   :run text       Id of the run.
--   :passed text[]  Snapshots that are excluded, because the run saw them rejected.
--   :again text     Snapshot that may be claimed from another, failed run; null for none.
SELECT cluster FROM cluster WHERE cluster = :cluster FOR UPDATE;

UPDATE snapshot
SET
    adopted_at = CASE WHEN claimed_by = CAST(:run AS text) THEN adopted_at ELSE clock_timestamp() END,
    claimed_by = CAST(:run AS text),
    superseded_by = NULL
WHERE
    snapshot_id = (
        SELECT s.snapshot_id
        FROM snapshot AS s
        WHERE
            s.cluster = :cluster
            AND s.snapshot_id <> ALL(CAST(:passed AS text []))
            AND (
                s.claimed_by = CAST(:run AS text)
                OR (
                    s.advised_at IS NULL
                    AND s.rejected IS NOT TRUE
                    AND s.started_at > coalesce(
                        (
                            SELECT max(done.started_at) FROM snapshot AS done
                            WHERE
                                done.cluster = :cluster
                                AND done.advised_at IS NOT NULL
                                AND (has_come(done.started_at) OR NOT has_come(s.started_at))
                        ),
                        '-infinity'
                    )
                )
            )
        ORDER BY
            s.claimed_by IS NOT DISTINCT FROM CAST(:run AS text) DESC,
            has_come(s.started_at) DESC,
            s.started_at DESC,
            s.snapshot_id DESC
        LIMIT 1
    )
    AND (claimed_by IS NULL OR claimed_by = CAST(:run AS text) OR snapshot_id = CAST(:again AS text));

UPDATE snapshot AS s
SET superseded_by = newest.snapshot_id
FROM (
    SELECT snapshot_id, started_at
    FROM snapshot
    WHERE cluster = :cluster AND rejected IS NOT TRUE AND (advised_at IS NOT NULL OR claimed_by IS NOT NULL)
    ORDER BY has_come(started_at) DESC, started_at DESC, snapshot_id DESC
    LIMIT 1
) AS newest
WHERE
    s.cluster = :cluster
    AND s.advised_at IS NULL
    AND s.rejected IS NOT TRUE
    AND (s.started_at, s.snapshot_id) < (newest.started_at, newest.snapshot_id)
    AND s.claimed_by IS DISTINCT FROM CAST(:run AS text)
    AND NOT EXISTS (
        SELECT 1 FROM snapshot AS former
        WHERE former.snapshot_id = s.superseded_by AND former.rejected IS NOT TRUE
    );

SELECT snapshot_id
FROM snapshot
WHERE
    cluster = :cluster
    AND claimed_by = CAST(:run AS text)
    AND snapshot_id <> ALL(CAST(:passed AS text []))
ORDER BY has_come(started_at) DESC, started_at DESC, snapshot_id DESC
LIMIT 1;
