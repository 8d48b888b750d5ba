-- Which strategy wins where? One row per group and strategy that was the best it could get after a snapshot of the period, the one
-- that won most first; a null strategy stands for the snapshots after which nothing was better than what the group had.
-- `switch_snapshots`: after how many it was advised to switch to it (a win has to last for that). `won_share` is a fraction of 1
-- of all snapshots after which the group was advised to switch or to stay. Days are those of UTC.
--
-- Parameters:
--   :cluster text = null            Configured name of the cluster; null: every cluster.
--   :group text = null              The consumer group; null: every group.
--   :days integer = 30              How many days to look back.
--   :until timestamptz = null       The moment on whose day the period ends; null: now.
--
-- Columns as in: strategy_wins.
-- Its own columns:
--   won_snapshots bigint     After how many snapshots it was.
--   switch_snapshots bigint  After how many of these the group was advised to switch to it.
--   first_day timestamptz    The first day of the period on which it was.
--   last_day timestamptz     The last one.
SELECT
    cluster,
    group_id,
    strategy,
    sum(won_snapshots)::bigint AS won_snapshots,
    sum(switch_snapshots)::bigint AS switch_snapshots,
    sum(won_snapshots)::double precision
    / nullif(sum(sum(won_snapshots)) OVER (PARTITION BY cluster, group_id), 0)::double precision AS won_share,
    min(day) AS first_day,
    max(day) AS last_day
FROM strategy_wins
WHERE
    (CAST(:cluster AS text) IS NULL OR cluster = CAST(:cluster AS text))
    AND (CAST(:group AS text) IS NULL OR group_id = CAST(:group AS text))
    AND day <= coalesce(CAST(:until AS timestamptz), now())
    AND day > coalesce(CAST(:until AS timestamptz), now()) - make_interval(days => CAST(:days AS integer))
GROUP BY cluster, group_id, strategy
ORDER BY cluster, group_id, won_snapshots DESC, strategy;
