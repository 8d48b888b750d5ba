-- The first :most moves of each given advice, by topic and partition.
--
-- Parameters:
--   :advice_ids bigint[]  Numbers of the advice.
--   :most integer         Maximum number of moves of each.
SELECT advice_id, topic, partition, from_member, to_member
FROM (
    SELECT
        m.*,
        row_number() OVER (PARTITION BY m.advice_id ORDER BY m.topic, m.partition) AS place
    FROM advice_move AS m
    WHERE m.advice_id = any(CAST(:advice_ids AS bigint[]))
) AS numbered
WHERE place <= CAST(:most AS integer)
ORDER BY advice_id, place;
