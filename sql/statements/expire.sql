-- Forgets what is older than a moment: snapshots with everything that belongs to them, incidents that are over, messages that are
-- sent or superseded unless they stand for an incident that is open, silences that are over, runs of steps, groups without
-- samples. Of snapshots only so many at once, the oldest first. Returns those that went.
--
-- Parameters:
--   :before timestamptz  What began before this goes.
--   :most integer        How many snapshots at most.
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

-- who advises waits meanwhile: what goes on is told from one row to another
SELECT cluster FROM cluster ORDER BY cluster FOR NO KEY UPDATE;

-- what a group is told since before that goes on with the newest advice that says it
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

-- groups that no sample names any more: one sample tells, so no day is read; not all at once, for each is looked for in all days
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
