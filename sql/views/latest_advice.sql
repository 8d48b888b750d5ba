-- One row per group of the newest snapshot with advice of each cluster: verdict, strategy, deployment steps and
-- reason.
--
-- Columns as in: advice.
-- Its own columns:
--   moves bigint  Number of partitions that are reassigned if the advice is followed.
CREATE OR REPLACE VIEW latest_advice AS
SELECT
    (SELECT count(*) FROM advice_move WHERE advice_move.advice_id = advice.advice_id) AS moves,
    snapshot.started_at AS taken_at,
    extract(epoch FROM now() - snapshot.started_at)::double precision AS age_seconds,
    advice.advice_id,
    advice.snapshot_id,
    advice.cluster,
    advice.group_id,
    advice.verdict,
    advice.strategy,
    advice.reason,
    advice.how,
    advice.best_undeployable,
    advice.best_undeployable_reason,
    advice.seen,
    advice.config_version,
    advice.created_at,
    advice.facts,
    advice.best_undeployable_facts,
    advice.state,
    advice.state_since,
    advice.course,
    advice.owner
FROM newest_snapshot AS newest
INNER JOIN snapshot ON snapshot.snapshot_id = newest.advised
INNER JOIN advice ON advice.snapshot_id = newest.advised;
