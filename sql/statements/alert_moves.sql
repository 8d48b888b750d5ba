-- The first :most moves of each given advice, in order of topic and partition.
--
-- Parameters:
--   :advice_ids bigint[]  Whose moves.
--   :most integer         How many moves of each.
select advice_id, topic, partition, from_member, to_member
from (
    select
        m.*,
        row_number() over (partition by m.advice_id order by m.topic, m.partition) as place
    from advice_move as m
    where m.advice_id = any(cast(:advice_ids as bigint[]))
) as numbered
where place <= cast(:most as integer)
order by advice_id, place;
