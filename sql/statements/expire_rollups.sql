-- Forgets hours and days of groups, and spans of diagnoses, that are older than a moment.
--
-- Parameters:
--   :hours timestamptz  Hours that began before this go.
--   :days timestamptz   Days that began before this go, and diagnoses that ended before it, or of groups that are gone.
DELETE FROM group_hour
WHERE since < CAST(:hours AS timestamptz);

DELETE FROM group_day
WHERE since < CAST(:days AS timestamptz);

DELETE FROM diagnosis_span
WHERE
    until < CAST(:days AS timestamptz)
    OR (
        until IS NULL
        AND since < CAST(:days AS timestamptz)
        AND NOT EXISTS (
            SELECT FROM consumer_group AS known
            WHERE known.cluster = diagnosis_span.cluster AND known.group_id = diagnosis_span.group_id
        )
    );
