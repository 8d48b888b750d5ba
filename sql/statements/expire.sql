-- Forgets what is older than a moment: snapshots with everything that belongs to them, incidents that are over, messages
-- that are sent or superseded, runs of steps. Returns the snapshots that went.
--
-- Parameters:
--   :before timestamptz  What began before this goes.
DELETE FROM step_run
WHERE started_at < CAST(:before AS timestamptz);

DELETE FROM alert
WHERE created_at < CAST(:before AS timestamptz) AND state <> 'pending';

DELETE FROM incident
WHERE closed_at < CAST(:before AS timestamptz);

DELETE FROM snapshot
WHERE started_at < CAST(:before AS timestamptz)
RETURNING snapshot_id;
