-- The advice of one snapshot, one row per group, with the scores it rests on.
-- seen_since: when the first of the `seen` consecutive snapshots began in which the strategy won; null when seen is 0.
-- live, proposed: the candidate rows of the live and of the advised assignment as JSON; metrics: the group's metrics.
--
-- Parameters:
--   :snapshot_id text  The snapshot.
select
    a.advice_id,
    a.group_id,
    a.verdict,
    a.strategy,
    a.reason,
    a.how,
    a.yardstick,
    a.yardstick_reason,
    a.seen,
    began.started_at as seen_since,
    to_jsonb(live) - 'moved' as live,
    to_jsonb(proposed) - 'moved' as proposed,
    to_jsonb(m) as metrics
from advice as a
inner join snapshot as s on s.snapshot_id = a.snapshot_id
left join candidate as live
    on live.snapshot_id = a.snapshot_id and live.group_id = a.group_id and live.strategy = 'live'
left join candidate as proposed
    on proposed.snapshot_id = a.snapshot_id
    and proposed.group_id = a.group_id
    and proposed.strategy = a.strategy
left join group_metrics as m on m.snapshot_id = a.snapshot_id and m.group_id = a.group_id
left join lateral (
    select es.started_at
    from advice as earlier
    inner join snapshot as es on es.snapshot_id = earlier.snapshot_id
    where earlier.cluster = a.cluster
        and earlier.group_id = a.group_id
        and es.started_at <= s.started_at
    order by es.started_at desc
    offset greatest(a.seen, 1) - 1
    limit 1
) as began on a.seen > 0
where a.snapshot_id = cast(:snapshot_id as text)
order by a.group_id;
