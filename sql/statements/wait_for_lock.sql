-- Takes the lock of a name until the transaction ends; waits for whoever has it.
--
-- Parameters:
--   :key text  The name.
SELECT pg_advisory_xact_lock(hashtextextended(CAST(:key AS text), 0));
