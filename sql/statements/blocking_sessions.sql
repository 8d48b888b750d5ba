-- The sessions that another waits for, one row each; since is null where the server does not show it to this role.
--
-- Parameters:
--   :pid integer  Process id of the server process of the one that waits.
SELECT
    application_name AS application,
    pid,
    usename AS role,
    xact_start AS since
FROM pg_stat_activity
WHERE pid = ANY(pg_blocking_pids(CAST(:pid AS integer)))
ORDER BY pid;
