-- The active and future silences, and those whose end is not yet notified.
--
-- Parameters:
--   :now timestamptz  Time of the evaluation.
SELECT
    silence_id,
    kind,
    cluster,
    groups,
    starts_at,
    ends_at,
    reason,
    who,
    created_at,
    ended_at,
    channels,
    end_notified_at
FROM silence
WHERE end_notified_at IS NULL OR coalesce(least(ends_at, ended_at), 'infinity') > CAST(:now AS timestamptz)
ORDER BY silence_id;
