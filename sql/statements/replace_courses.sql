-- Replaces all that is remembered of the groups of a cluster.
--
-- Parameters:
--   :cluster text   Configured name of the cluster.
--   :courses jsonb  A list of {group_id, course}.
DELETE FROM group_course
WHERE cluster = CAST(:cluster AS text);

INSERT INTO group_course (cluster, group_id, course)
SELECT
    CAST(:cluster AS text),
    new.group_id,
    new.course
FROM jsonb_to_recordset(CAST(:courses AS jsonb)) AS new (group_id text, course jsonb);
