-- The transaction that is under way, as the server shows it to others: one row.
SELECT
    pid,
    usename AS role,
    xact_start AS since
FROM pg_stat_activity
WHERE pid = pg_backend_pid();
