-- Begin an attempt to deliver an alert, unless another process has begun one that may still be under way.
-- The moment stands in the message, beside what is said. A row comes back if the attempt is ours.
--
-- Parameters:
--   :alert_id bigint                 The alert.
--   :lease_seconds double precision  How long an attempt may take before its process is taken for gone.
UPDATE alert
SET attempts = attempts + 1,
    message = message || jsonb_build_object('attempted_at', now())
WHERE alert_id = CAST(:alert_id AS bigint)
    AND state = 'pending'
    AND coalesce(CAST(message ->> 'attempted_at' AS timestamptz), '-infinity')
        < now() - make_interval(secs => CAST(:lease_seconds AS double precision))
RETURNING alert_id;
