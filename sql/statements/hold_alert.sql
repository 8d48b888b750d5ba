-- Keeps an alert for whoever delivers it until this transaction ends, and with it the connection at the latest: one row
-- that says whether nobody else has it.
--
-- Parameters:
--   :alert_id bigint  The alert.
SELECT
    pg_try_advisory_xact_lock(
        hashtextextended(concat_ws(' ', 'deliver', current_schema(), CAST(:alert_id AS bigint)), 0)
    ) AS got;
