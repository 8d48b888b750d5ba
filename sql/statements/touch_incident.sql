-- An incident is still there: when it was last seen, and the newest facts about it.
--
-- Parameters:
--   :now timestamptz     The moment of looking.
--   :facts jsonb         What is known about it.
--   :incident_id bigint  The incident.
update incident
set last_seen_at = cast(:now as timestamptz), facts = cast(:facts as jsonb)
where incident_id = cast(:incident_id as bigint) and closed_at is null;
