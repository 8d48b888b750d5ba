-- Takes a named lock for the lifetime of this connection if it is free: one row that says whether.
--
-- Parameters:
--   :key text  Name of the lock.
SELECT pg_try_advisory_lock(hashtextextended(CAST(:key AS text), 0)) AS got;
