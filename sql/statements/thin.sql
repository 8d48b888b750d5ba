-- Deletes details of older snapshots of a cluster that are needed for the newest ones only, and repeated advice. The
-- main values stay in group_sample, member_span and diagnosis_span, in changed advice and in failed checks; the lake
-- has everything. A large history takes several runs.
--
-- Parameters:
--   :cluster text                   Configured name of the cluster.
--   :detail_hours double precision  Hours before its newest snapshot in which all snapshots keep metrics and advice.
--   :whole integer                  Number of newest snapshots that keep metrics, candidates and checks.
--   :most integer                   Maximum number of snapshots that a run thins, of the oldest and of those next to the whole ones.
SELECT cluster.cluster FROM cluster
WHERE cluster.cluster = :cluster
FOR NO KEY UPDATE;

-- the statements below thin the snapshots that this transaction marks
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
    -- the metrics at a change of advice
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
    AND NOT EXISTS (SELECT FROM advice_regret WHERE advice_regret.advice_id = advice.advice_id)
    -- the last row of a group has the state of its advice
    AND EXISTS (
        SELECT FROM advice AS newer
        WHERE
            newer.cluster = advice.cluster
            AND newer.group_id = advice.group_id
            AND newer.snapshot_id > advice.snapshot_id COLLATE "C"
    );
