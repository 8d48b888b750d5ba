-- Holds an alert for its delivery until this transaction or its connection ends: one row that says whether it was
-- free.
--
-- Parameters:
--   :alert_id bigint  Number of the alert.
SELECT
    pg_try_advisory_xact_lock(
        hashtextextended(concat_ws(' ', 'deliver', current_schema(), CAST(:alert_id AS bigint)), 0)
    ) AS got;
