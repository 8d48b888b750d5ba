-- Begin an attempt to deliver an alert, unless another process has begun one that may still be under way.
-- The moment stands in the message, beside what is said. A row comes back if the attempt is ours.
--
-- Parameters:
--   :alert_id bigint                 The alert.
--   :lease_seconds double precision  How long an attempt may take before its process is taken for gone.
update alert
set attempts = attempts + 1,
    message = message || jsonb_build_object('attempted_at', now())
where alert_id = cast(:alert_id as bigint)
    and state = 'pending'
    and coalesce(cast(message ->> 'attempted_at' as timestamptz), '-infinity')
        < now() - make_interval(secs => cast(:lease_seconds as double precision))
returning alert_id;
