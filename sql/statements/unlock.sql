-- Lets go of the lock of a name.
--
-- Parameters:
--   :key text  The name.
SELECT pg_advisory_unlock(hashtextextended(CAST(:key AS text), 0));
