-- Takes a named lock until the transaction ends, and waits for its holder.
--
-- Parameters:
--   :key text  Name of the lock.
SELECT pg_advisory_xact_lock(hashtextextended(CAST(:key AS text), 0));
