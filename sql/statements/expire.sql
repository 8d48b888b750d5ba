-- Deletes rows older than a moment: snapshots with their rows, resolved incidents, sent or superseded messages except
-- those of open incidents, ended silences, step runs, and groups without samples. Returns the deleted snapshots,
-- oldest first and limited in number.
--
-- Parameters:
--   :before timestamptz  Rows that began before this time are deleted.
--   :most integer        Maximum number of snapshots.
DELETE FROM step_run
WHERE started_at < CAST(:before AS timestamptz);

DELETE FROM silence
WHERE least(ends_at, ended_at) < CAST(:before AS timestamptz);

DELETE FROM alert
WHERE
    created_at < CAST(:before AS timestamptz)
    AND state <> 'pending'
    AND NOT EXISTS (
        SELECT 1 FROM incident
        WHERE incident.closed_at IS NULL AND incident.alert_key IN (alert.key, alert.replaces)
    );

DELETE FROM incident
WHERE closed_at < CAST(:before AS timestamptz);

-- blocks writers of advice: a period continues from one row to the next
SELECT cluster FROM cluster ORDER BY cluster FOR NO KEY UPDATE;

-- advice that began before continues with its newest row
UPDATE advice SET repeats = FALSE
FROM snapshot
INNER JOIN advice AS told ON told.snapshot_id = snapshot.snapshot_id
WHERE
    snapshot.started_at < CAST(:before AS timestamptz)
    AND told.until IS NULL
    AND NOT told.repeats
    AND advice.advice_id = (
        SELECT newest.advice_id FROM advice AS newest
        WHERE newest.cluster = told.cluster AND newest.group_id = told.group_id
        ORDER BY newest.snapshot_id DESC LIMIT 1
    )
    AND advice.repeats;

-- groups without samples; one sample is enough to keep a group, and their number is limited, because each is searched in all days
DELETE FROM consumer_group
WHERE group_number IN (
    SELECT known.group_number FROM consumer_group AS known
    WHERE (
        SELECT sample.taken_at FROM group_sample AS sample
        WHERE sample.group_number = known.group_number LIMIT 1
    ) IS NULL
    LIMIT 1000
);

DELETE FROM member_span
WHERE
    until < CAST(:before AS timestamptz)
    OR (
        until IS NULL
        AND NOT EXISTS (
            SELECT FROM consumer_group AS known
            WHERE known.cluster = member_span.cluster AND known.group_id = member_span.group_id
        )
    );

DELETE FROM snapshot
WHERE snapshot_id IN (
    SELECT oldest.snapshot_id FROM snapshot AS oldest
    WHERE oldest.started_at < CAST(:before AS timestamptz)
    ORDER BY oldest.started_at, oldest.snapshot_id LIMIT CAST(:most AS integer)
)
RETURNING snapshot_id;
