-- Marks a snapshot as advised and updates the periods of the advice of each group; one row per advice with its number
-- and group. Advice that is not repeated ends, including that of deleted groups.
--
-- Parameters:
--   :snapshot_id text  Id of the snapshot.
UPDATE snapshot SET
    advised_at = now(),
    rolled_up_at = NULL
WHERE snapshot_id = :snapshot_id;

-- unchanged advice continues its period; in a snapshot older than the newest advised one it gets a period of its own
UPDATE advice SET
    since = coalesce(told.since, snapshot.started_at),
    until = later.started_at,
    repeats = told.advice_id IS NOT NULL
FROM snapshot
LEFT JOIN LATERAL (
    SELECT min(each.started_at) AS started_at FROM snapshot AS each
    WHERE
        each.cluster = snapshot.cluster
        AND each.advised_at IS NOT NULL
        AND each.started_at > snapshot.started_at
) AS later ON TRUE
INNER JOIN advice AS new ON new.snapshot_id = snapshot.snapshot_id
LEFT JOIN advice AS told
    ON
        later.started_at IS NULL
        AND told.cluster = new.cluster
        AND told.group_id = new.group_id
        AND told.until IS NULL
        AND NOT told.repeats
        AND told.since < snapshot.started_at
        AND told.verdict = new.verdict
        AND told.strategy IS NOT DISTINCT FROM new.strategy
        AND told.state IS NOT DISTINCT FROM new.state
WHERE snapshot.snapshot_id = :snapshot_id AND advice.advice_id = new.advice_id;

UPDATE advice AS told SET until = snapshot.started_at
FROM snapshot
WHERE
    snapshot.snapshot_id = :snapshot_id
    AND told.cluster = snapshot.cluster
    AND told.until IS NULL
    AND NOT told.repeats
    AND told.since < snapshot.started_at
    AND NOT EXISTS (
        SELECT FROM snapshot AS later
        WHERE
            later.cluster = snapshot.cluster
            AND later.advised_at IS NOT NULL
            AND later.started_at > snapshot.started_at
    )
    AND NOT EXISTS (
        SELECT FROM advice AS again
        WHERE again.snapshot_id = :snapshot_id AND again.group_id = told.group_id AND again.repeats
    );

SELECT
    advice_id,
    group_id
FROM advice
WHERE snapshot_id = :snapshot_id;
