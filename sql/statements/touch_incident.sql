-- An incident is still there: when it was last seen, and the newest facts about it.
--
-- Parameters:
--   :now timestamptz     The moment of looking.
--   :facts jsonb         What is known about it.
--   :incident_id bigint  The incident.
UPDATE incident
SET last_seen_at = CAST(:now AS timestamptz), facts = CAST(:facts AS jsonb)
WHERE incident_id = CAST(:incident_id AS bigint) AND closed_at IS NULL;
