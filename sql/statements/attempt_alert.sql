-- Marks the start of a delivery attempt for an alert that is locked by this session; the result of an attempt whose
-- process died is unknown. No row if the alert is no longer pending, or if an attempt that lost its hold in a server
-- restart may still be running.
--
-- Parameters:
--   :alert_id bigint                 Number of the alert.
--   :lease_seconds double precision  Maximum duration of such an attempt, in seconds.
UPDATE alert
SET
    attempts = attempts + 1,
    unsure = unsure OR attempted_at IS NOT NULL,
    attempted_at = now()
WHERE
    alert_id = CAST(:alert_id AS bigint)
    AND state = 'pending'
    AND (
        attempted_at IS NULL
        OR attempted_at >= pg_postmaster_start_time()
        OR attempted_at < now() - make_interval(secs => CAST(:lease_seconds AS double precision))
    )
RETURNING alert_id;
