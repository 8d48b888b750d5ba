-- How many partitions did membership changes move, and how many with another strategy? One row per group and strategy
-- that it runs or that a setting can deploy, most moves first. Members are compared between consecutive stable
-- snapshots (`compared`, of which `changed` differ). `moved` counts partitions that were reassigned,
-- `would_have_moved` those with the strategy in use before each change. replayed_of is the number of changes that
-- could be replayed with the strategy. Changes that leave no trace between two snapshots are not counted.
--
-- Parameters:
--   :cluster text = null             Configured name of the cluster; null for all clusters.
--   :group text = null               Consumer group; null for all groups.
--   :hours double precision = 168    Length of the period in hours; its first and last hour count completely.
--   :until timestamptz = null        End of the period; null for now.
--
-- Columns as in: group_metrics, candidate.
-- Its own columns:
--   compared bigint (snapshots)           Number of snapshots compared with the previous one.
--   changed bigint (snapshots)            Number of those with membership changes.
--   joins bigint (members)                Number of members that joined.
--   leaves bigint (members)               Number of members that left.
--   restarts bigint (members)             Number of members that restarted.
--   moved bigint (partitions)             Number of partitions that were reassigned.
--   would_have_moved bigint (partitions)  Number of partitions that the strategy would have reassigned.
--   replayed_of bigint (snapshots)        Number of changes that could be replayed with the strategy.
--   since timestamptz                     Start of the first snapshot.
--   until timestamptz                     Start of the last snapshot.
WITH hours AS (
    SELECT
        trend.cluster,
        trend.group_id,
        trend.since,
        trend.compared_snapshots,
        trend.changed_snapshots,
        trend.members_joined,
        trend.members_left,
        trend.members_restarted,
        trend.partitions_moved,
        nullif(trend.would_have_moved, '[]') AS would_have_moved
    FROM group_lag_trend AS trend
    WHERE
        trend.per = 'hour'
        AND (CAST(:cluster AS text) IS NULL OR trend.cluster = CAST(:cluster AS text))
        AND (CAST(:group AS text) IS NULL OR trend.group_id = CAST(:group AS text))
        AND trend.since <= coalesce(CAST(:until AS timestamptz), now())
        AND trend.since > coalesce(CAST(:until AS timestamptz), now())
        - make_interval(secs => 3600 * (CAST(:hours AS double precision) + 1))
        AND trend.compared_snapshots > 0
),

replayed AS (
    SELECT
        hours.cluster,
        hours.group_id,
        each.strategy,
        sum(each.moves)::bigint AS would_have_moved,
        sum(each.changes)::bigint AS replayed_of
    FROM hours
    CROSS JOIN LATERAL jsonb_to_recordset(hours.would_have_moved) AS each (strategy text, moves bigint, changes bigint)
    GROUP BY hours.cluster, hours.group_id, each.strategy
),

happened AS (
    SELECT
        cluster,
        group_id,
        sum(compared_snapshots)::bigint AS compared,
        sum(changed_snapshots)::bigint AS changed,
        sum(members_joined)::bigint AS joins,
        sum(members_left)::bigint AS leaves,
        sum(members_restarted)::bigint AS restarts,
        sum(partitions_moved)::bigint AS moved,
        min(since) AS since,
        max(since) + interval '1 hour' AS until
    FROM hours
    GROUP BY cluster, group_id
)

SELECT
    happened.cluster,
    happened.group_id,
    replayed.strategy,
    happened.moved,
    replayed.would_have_moved,
    replayed.replayed_of,
    happened.changed,
    happened.joins,
    happened.leaves,
    happened.restarts,
    happened.compared,
    happened.since,
    happened.until
FROM happened
INNER JOIN replayed ON replayed.cluster = happened.cluster AND replayed.group_id = happened.group_id
ORDER BY happened.moved DESC, happened.cluster, happened.group_id, replayed.would_have_moved, replayed.strategy;
