-- Takes the lock of a name for as long as this connection lives, if nobody has it: one row that says whether.
--
-- Parameters:
--   :key text  The name.
SELECT pg_try_advisory_lock(hashtextextended(CAST(:key AS text), 0)) AS got;
