-- Which strategy wins for which group? One row per group and strategy that was the best deployable one in a snapshot
-- of the period, most wins first. strategy is null for snapshots in which none was better than the current one.
-- `switch_snapshots` counts those with the advice to switch to it, which follows only after several wins. `won_share`
-- is a fraction of 1 of all snapshots with the advice to switch or to stay. Days are in UTC.
--
-- Parameters:
--   :cluster text = null            Configured name of the cluster; null for all clusters.
--   :group text = null              Consumer group; null for all groups.
--   :days integer = 30              Length of the period in days.
--   :until timestamptz = null       Moment on the last day of the period; null for now.
--
-- Columns as in: strategy_wins.
-- Its own columns:
--   won_snapshots bigint     Number of snapshots that it won.
--   switch_snapshots bigint  Number of those with the advice to switch to it.
--   first_day timestamptz    First day of the period with a win.
--   last_day timestamptz     Last day of the period with a win.
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
