-- Releases a named lock.
--
-- Parameters:
--   :key text  Name of the lock.
SELECT pg_advisory_unlock(hashtextextended(CAST(:key AS text), 0));
