-- The silences that hold at a moment, those that are to come, and those of whose end nothing was told yet.
--
-- Parameters:
--   :now timestamptz  The moment of looking.
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
