-- Note that an attempt to deliver an alert is begun, by whoever holds it (`hold_alert`). Of one whose process is gone it is
-- not known how it ended. A row comes back unless the alert waits no more, or an attempt may still be under way that lost
-- its hold when the server was started anew.
--
-- Parameters:
--   :alert_id bigint                 The alert.
--   :lease_seconds double precision  How long such an attempt may take before its process is taken for gone.
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
