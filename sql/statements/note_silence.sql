-- Note what has been told of a silence.
--
-- Parameters:
--   :silence_id bigint        Its number.
--   :channels text[]          Where it was told that it began.
--   :end_told_at timestamptz  When its end was told; null: not yet.
UPDATE silence
SET channels = CAST(:channels AS text[]), end_told_at = CAST(:end_told_at AS timestamptz)
WHERE silence_id = CAST(:silence_id AS bigint);
