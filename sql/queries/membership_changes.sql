-- What did the joins, leaves and restarts of a group's members move, and what would they have moved under another
-- strategy? One row per group and strategy that it runs or that a setting could make it run, the group that moved most
-- first. From one snapshot at rest to the next (`compared`, of which `changed` differ in their members): `moved` counts
-- partitions that went from one member to another, `would_have_moved` the same if that strategy had been in force before
-- the change; replayed_of says how many of the changes are in it (fewer where it could not run on one of them). What
-- happened between two snapshots and left no trace is in neither.
--
-- Parameters:
--   :cluster text = null             Configured name of the cluster; null: every cluster.
--   :group text = null               The consumer group; null: every group.
--   :hours double precision = 168    How many hours to look back.
WITH compared AS (
    SELECT
        metrics.cluster,
        metrics.group_id,
        metrics.members_joined,
        metrics.members_left,
        metrics.members_restarted,
        metrics.partitions_moved,
        metrics.would_have_moved,
        snapshot.started_at
    FROM group_metrics AS metrics
    INNER JOIN snapshot ON snapshot.snapshot_id = metrics.snapshot_id
    WHERE
        (CAST(:cluster AS text) IS NULL OR metrics.cluster = CAST(:cluster AS text))
        AND (CAST(:group AS text) IS NULL OR metrics.group_id = CAST(:group AS text))
        AND metrics.members_joined IS NOT NULL
        AND snapshot.started_at >= now() - make_interval(secs => 3600 * CAST(:hours AS double precision))
),

happened AS (
    SELECT
        cluster,
        group_id,
        count(*) AS compared,
        count(*) FILTER (WHERE members_joined + members_left + members_restarted > 0) AS changed,
        sum(members_joined)::bigint AS joins,
        sum(members_left)::bigint AS leaves,
        sum(members_restarted)::bigint AS restarts,
        sum(partitions_moved)::bigint AS moved,
        min(started_at) AS since,
        max(started_at) AS until
    FROM compared
    GROUP BY cluster, group_id
),

replayed AS (
    SELECT
        compared.cluster,
        compared.group_id,
        each.strategy,
        sum(each.moves)::bigint AS would_have_moved,
        count(*) AS replayed_of
    FROM compared
    CROSS JOIN LATERAL jsonb_to_recordset(compared.would_have_moved) AS each (strategy text, moves bigint)
    GROUP BY compared.cluster, compared.group_id, each.strategy
)

SELECT
    happened.cluster,
    happened.group_id,
    replayed.strategy,
    happened.compared,
    happened.changed,
    happened.joins,
    happened.leaves,
    happened.restarts,
    happened.moved,
    replayed.would_have_moved,
    replayed.replayed_of,
    happened.since,
    happened.until
FROM happened
INNER JOIN replayed ON replayed.cluster = happened.cluster AND replayed.group_id = happened.group_id
ORDER BY happened.moved DESC, happened.cluster, happened.group_id, replayed.would_have_moved, replayed.strategy;
