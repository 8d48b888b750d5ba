-- End a silence that holds or is to come. It comes back as it is then; none when there is no such one.
--
-- Parameters:
--   :silence_id bigint  Its number.
--   :now timestamptz    The moment of its end.
UPDATE silence
SET ended_at = CAST(:now AS timestamptz)
WHERE silence_id = CAST(:silence_id AS bigint)
    AND coalesce(least(ends_at, ended_at), 'infinity') > CAST(:now AS timestamptz)
RETURNING
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
    end_told_at;
