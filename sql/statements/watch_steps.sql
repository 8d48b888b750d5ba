-- The steps of some clusters whose newest runs failed: how many in a row, since when, and the last error.
--
-- Parameters:
--   :clusters text[]  Configured names of clusters.
select
    r.cluster,
    r.step,
    count(*) as failures,
    min(r.finished_at) as failing_since,
    max(r.finished_at) as last_failed_at,
    (array_agg(r.error order by r.started_at desc))[1] as error
from step_run as r
left join (
    select cluster, step, max(started_at) as started_at
    from step_run
    where outcome = 'ok'
    group by cluster, step
) as good on good.cluster = r.cluster and good.step = r.step
where r.cluster = any(cast(:clusters as text[]))
    and r.outcome = 'failed'
    and (good.started_at is null or r.started_at > good.started_at)
group by r.cluster, r.step
order by r.cluster, failing_since, r.step;
