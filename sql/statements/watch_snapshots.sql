-- How fresh the snapshots of some clusters are, one row per cluster, also of one that was never read.
-- watched_since: the first step any cluster's pipeline ever ran.
-- rejected_*, rejection: the newest snapshot validation has looked at, if it rejected it, and why; else null.
-- unadvised, oldest_unadvised_*: snapshots newer than the newest advised one, not rejected, without advice.
--
-- Parameters:
--   :clusters text[]  Configured names of clusters.
select
    c.cluster,
    (select min(r.started_at) from step_run as r) as watched_since,
    newest.snapshot_id as newest_snapshot_id,
    newest.finished_at as newest_finished_at,
    case when judged.rejected then judged.snapshot_id end as rejected_snapshot_id,
    case when judged.rejected then judged.finished_at end as rejected_at,
    case when judged.rejected then judged.rejection end as rejection,
    waiting.unadvised,
    waiting.oldest_unadvised_id,
    waiting.oldest_unadvised_at
from unnest(cast(:clusters as text[])) as c (cluster)
left join lateral (
    select s.snapshot_id, s.finished_at
    from snapshot as s
    where s.cluster = c.cluster
    order by s.started_at desc
    limit 1
) as newest on true
left join lateral (
    select
        s.snapshot_id,
        s.finished_at,
        s.rejected,
        (
            select string_agg(v.expectation || ': ' || coalesce(v.reason, 'failed'), '; ')
            from validation as v
            where v.snapshot_id = s.snapshot_id
                and v.stage = 'snapshot'
                and v.group_id is null
                and v.severity = 'critical'
                and not v.success
        ) as rejection
    from snapshot as s
    where s.cluster = c.cluster and s.validated_at is not null
    order by s.started_at desc
    limit 1
) as judged on true
cross join lateral (
    select
        count(*) as unadvised,
        (array_agg(s.snapshot_id order by s.started_at))[1] as oldest_unadvised_id,
        min(s.finished_at) as oldest_unadvised_at
    from snapshot as s
    where s.cluster = c.cluster
        and s.advised_at is null
        and s.rejected is not true
        and s.started_at > coalesce(
            (
                select max(done.started_at)
                from snapshot as done
                where done.cluster = c.cluster and done.advised_at is not null
            ),
            '-infinity'
        )
) as waiting
order by c.cluster;
