-- Claims the database for an installation, unless another one has it: a row with the installation that has it. A claim
-- waits for one that is under way. No row: it was released meanwhile.
--
-- Parameters:
--   :installation_id text  Id of the installation that asks.
--   :lake text             Path or URI of its lake, which may have moved.
--   :host text             This host.
INSERT INTO installation (installation_id, lake, host, since)
VALUES (CAST(:installation_id AS text), CAST(:lake AS text), CAST(:host AS text), now())
ON CONFLICT ((true)) DO UPDATE SET lake = excluded.lake
WHERE installation.installation_id = excluded.installation_id AND installation.lake <> excluded.lake;

SELECT
    installation_id,
    lake,
    host,
    since
FROM installation;
