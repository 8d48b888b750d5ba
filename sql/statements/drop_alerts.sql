-- Alerts that wait give way to something newer.
--
-- Parameters:
--   :keys text[]  Their keys; others may be among them.
UPDATE alert SET state = 'superseded'
WHERE key = ANY(CAST(:keys AS text [])) AND state = 'pending';
