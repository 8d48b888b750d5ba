-- Forgets of the older snapshots of a cluster what only the newest are asked for, and what was only said again. What they
-- said of each group stays in group_sample, member_span and diagnosis_span and as the first advice of each kind, what did not
-- hold in validation; the lake has all of it. A large history, as after an upgrade, takes several turns.
--
-- Parameters:
--   :cluster text                   Configured name of the cluster.
--   :detail_hours double precision  Hours before its newest snapshot in which all of them keep metrics and advice.
--   :whole integer                  Newest snapshots with metrics, with candidates and with checks, that keep these.
--   :most integer                   So many of the oldest are made less in a turn, and so many of those next to the whole.
SELECT cluster.cluster FROM cluster
WHERE cluster.cluster = :cluster
FOR NO KEY UPDATE;

-- those that this transaction notes as thinned are thinned below
UPDATE snapshot SET thinned_at = now()
WHERE snapshot.snapshot_id IN (
    SELECT older.snapshot_id FROM snapshot AS older
    WHERE
        older.cluster = :cluster
        AND older.thinned_at IS NULL
        AND older.started_at < (
            SELECT max(newest.started_at) FROM snapshot AS newest
            WHERE newest.cluster = :cluster
        ) - make_interval(secs => 3600 * CAST(:detail_hours AS double precision))
        AND older.snapshot_id NOT IN (
            (
                SELECT newest.snapshot_id FROM snapshot AS newest
                WHERE newest.cluster = :cluster AND newest.measured_at IS NOT NULL
                ORDER BY newest.started_at DESC, newest.snapshot_id DESC LIMIT CAST(:whole AS integer)
            )
            UNION ALL
            (
                SELECT newest.snapshot_id FROM snapshot AS newest
                WHERE newest.cluster = :cluster AND newest.proposed_at IS NOT NULL
                ORDER BY newest.started_at DESC, newest.snapshot_id DESC LIMIT CAST(:whole AS integer)
            )
            UNION ALL
            (
                SELECT newest.snapshot_id FROM snapshot AS newest
                WHERE newest.cluster = :cluster AND newest.validated_at IS NOT NULL
                ORDER BY newest.started_at DESC, newest.snapshot_id DESC LIMIT CAST(:whole AS integer)
            )
            UNION ALL
            (
                SELECT newest.snapshot_id FROM snapshot AS newest
                WHERE newest.cluster = :cluster AND newest.advised_at IS NOT NULL
                ORDER BY newest.started_at DESC, newest.snapshot_id DESC LIMIT 1
            )
        )
    ORDER BY older.started_at, older.snapshot_id LIMIT CAST(:most AS integer)
);

DELETE FROM candidate USING (
    SELECT old.snapshot_id FROM snapshot AS old
    WHERE old.cluster = :cluster AND old.thinned_at = now()
    UNION
    (
        SELECT newer.snapshot_id FROM snapshot AS newer
        WHERE newer.cluster = :cluster AND newer.proposed_at IS NOT NULL
        ORDER BY newer.started_at DESC, newer.snapshot_id DESC
        LIMIT CAST(:most AS integer) OFFSET CAST(:whole AS integer)
    )
) AS listed
WHERE
    candidate.snapshot_id = listed.snapshot_id
    -- what an advice rested on when it became another
    AND NOT EXISTS (
        SELECT FROM advice INNER JOIN advice_event AS event ON event.advice_id = advice.advice_id
        WHERE
            advice.snapshot_id = candidate.snapshot_id
            AND advice.group_id = candidate.group_id
            AND candidate.strategy IN ('live', event.strategy)
    );

DELETE FROM partition_worst USING (
    SELECT old.snapshot_id FROM snapshot AS old
    WHERE old.cluster = :cluster AND old.thinned_at = now()
    UNION
    (
        SELECT newer.snapshot_id FROM snapshot AS newer
        WHERE newer.cluster = :cluster AND newer.measured_at IS NOT NULL
        ORDER BY newer.started_at DESC, newer.snapshot_id DESC
        LIMIT CAST(:most AS integer) OFFSET CAST(:whole AS integer)
    )
) AS listed
WHERE partition_worst.snapshot_id = listed.snapshot_id;

DELETE FROM validation USING (
    SELECT old.snapshot_id FROM snapshot AS old
    WHERE old.cluster = :cluster AND old.thinned_at = now()
    UNION
    (
        SELECT newer.snapshot_id FROM snapshot AS newer
        WHERE newer.cluster = :cluster AND newer.validated_at IS NOT NULL
        ORDER BY newer.started_at DESC, newer.snapshot_id DESC
        LIMIT CAST(:most AS integer) OFFSET CAST(:whole AS integer)
    )
) AS listed
WHERE validation.snapshot_id = listed.snapshot_id AND validation.success;

DELETE FROM group_metrics USING snapshot
WHERE
    snapshot.cluster = :cluster
    AND snapshot.thinned_at = now()
    AND group_metrics.snapshot_id = snapshot.snapshot_id;

DELETE FROM member_metrics USING snapshot
WHERE
    snapshot.cluster = :cluster
    AND snapshot.thinned_at = now()
    AND member_metrics.snapshot_id = snapshot.snapshot_id;

DELETE FROM advice USING snapshot
WHERE
    snapshot.cluster = :cluster
    AND snapshot.thinned_at = now()
    AND advice.snapshot_id = snapshot.snapshot_id
    AND advice.repeats
    AND NOT EXISTS (SELECT FROM advice_event WHERE advice_event.advice_id = advice.advice_id)
    AND NOT EXISTS (SELECT FROM advice_check WHERE advice_check.advice_id = advice.advice_id)
    -- the last of a group says how far its advice had come
    AND EXISTS (
        SELECT FROM advice AS newer
        WHERE
            newer.cluster = advice.cluster
            AND newer.group_id = advice.group_id
            AND newer.snapshot_id > advice.snapshot_id COLLATE "C"
    );
