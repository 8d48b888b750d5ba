-- One snapshot as its alert needs it, and which snapshot of the same cluster is the newest. No row: unknown snapshot.
--
-- Parameters:
--   :snapshot_id text  The snapshot.
select
    s.snapshot_id,
    s.cluster,
    s.started_at,
    s.finished_at,
    s.partial,
    s.problems,
    (
        select newest.snapshot_id
        from snapshot as newest
        where newest.cluster = s.cluster
        order by newest.started_at desc, newest.snapshot_id desc
        limit 1
    ) as newest_snapshot_id
from snapshot as s
where s.snapshot_id = cast(:snapshot_id as text);
