-- The last evaluation of the groups of a cluster, or of its pipeline, with each stored incident state by name; one
-- row without a state if there is none.
--
-- Parameters:
--   :cluster text  Configured name of the cluster.
--   :subject text  Subject: groups or pipeline.
SELECT
    w.snapshot_id,
    w.at,
    w.first_at,
    c.name,
    c.course
FROM incident_watch AS w
LEFT JOIN incident_course AS c ON c.cluster = w.cluster AND c.subject = w.subject
WHERE w.cluster = CAST(:cluster AS text) AND w.subject = CAST(:subject AS text)
ORDER BY c.name;
