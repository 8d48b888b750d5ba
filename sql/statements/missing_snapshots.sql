-- The given snapshots that the history database doesn't have, in the given order.
--
-- Parameters:
--   :snapshot_ids text[]  Ids of the snapshots.
SELECT given.snapshot_id
FROM unnest(CAST(:snapshot_ids AS text[])) WITH ORDINALITY AS given (snapshot_id, place)
WHERE NOT EXISTS (SELECT 1 FROM snapshot AS s WHERE s.snapshot_id = given.snapshot_id)
ORDER BY given.place;
