-- Notes that a snapshot has its advice; one row for each that is in it, with its number and its group.
--
-- Parameters:
--   :snapshot_id text  The snapshot.
UPDATE snapshot SET advised_at = now()
WHERE snapshot_id = :snapshot_id;

SELECT
    advice_id,
    group_id
FROM advice
WHERE snapshot_id = :snapshot_id;
