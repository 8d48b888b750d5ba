-- Takes the lock of a name for a transaction that is open in another session, unless the transaction of another holds it:
-- one row with the holder, and whether it is the one that asks. Locks whose transactions have ended are free. No row: the
-- holder has let go meanwhile.
--
-- Parameters:
--   :name text          Name of the lock.
--   :pid integer        Process id of the server process of that session.
--   :role text          Role of that session.
--   :since timestamptz  When its transaction began.
DELETE FROM held_lock AS held
WHERE
    NOT EXISTS (
        SELECT FROM pg_stat_activity AS session
        WHERE
            session.pid = held.pid
            AND session.usename = held.role
            -- of another role's sessions the server may not say when they began, nor anything else
            AND (session.xact_start = held.since OR session.backend_start IS NULL)
    );

INSERT INTO held_lock (name, pid, role, since)
VALUES (CAST(:name AS text), CAST(:pid AS integer), CAST(:role AS text), CAST(:since AS timestamptz))
ON CONFLICT (name) DO NOTHING;

SELECT
    session.application_name AS application,
    held.pid,
    held.role,
    held.since,
    held.pid = CAST(:pid AS integer) AND held.since = CAST(:since AS timestamptz) AS is_ours
FROM held_lock AS held
LEFT JOIN pg_stat_activity AS session ON session.pid = held.pid
WHERE held.name = CAST(:name AS text);
