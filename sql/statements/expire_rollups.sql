-- Deletes old hours and days of groups, and old periods of diagnoses.
--
-- Parameters:
--   :hours timestamptz  Hours that began before this time are deleted.
--   :days timestamptz   Days that began before this time are deleted, and diagnoses that ended before it or belong to deleted groups.
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
