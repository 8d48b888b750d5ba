-- How often do groups rebalance, and who joins and leaves? One row per group, the most restless first. Members are
-- compared from one snapshot to the next in which the group could be read and was at rest (`compared`, of which
-- `changed` differ): by identity (instance id, else client id and host) they joined or left; of the same identity
-- but another member id they restarted. A rebalance between two snapshots shows in nothing else, so all numbers are at
-- least. `rebalancing_share` is a fraction of 1 of the snapshots that could read it; who_ columns name 20 identities at
-- most; null is unknown.
--
-- Parameters:
--   :cluster text = null            Configured name of the cluster; null: every cluster.
--   :group text = null              The consumer group; null: every group.
--   :hours double precision = 24    How many hours to look back.
WITH seen AS (
    SELECT
        metrics.cluster,
        metrics.group_id,
        metrics.snapshot_id,
        snapshot.started_at,
        metrics.error IS NULL AS readable,
        coalesce(
            metrics.state IN ('PreparingRebalance', 'CompletingRebalance', 'Assigning', 'Reconciling'), FALSE
        ) AS rebalancing
    FROM group_metrics AS metrics
    INNER JOIN snapshot ON snapshot.snapshot_id = metrics.snapshot_id
    WHERE
        (CAST(:cluster AS text) IS NULL OR metrics.cluster = CAST(:cluster AS text))
        AND (CAST(:group AS text) IS NULL OR metrics.group_id = CAST(:group AS text))
        AND snapshot.started_at >= now() - make_interval(secs => 3600 * CAST(:hours AS double precision))
),

pair AS (
    SELECT
        cluster,
        group_id,
        snapshot_id,
        lag(snapshot_id) OVER (PARTITION BY cluster, group_id ORDER BY started_at, snapshot_id) AS previous
    FROM seen
    WHERE readable AND NOT rebalancing
),

-- members whose id is in only one of the two; those that share an identity are told apart by their ids this way
lone AS (
    SELECT
        pair.group_id,
        pair.snapshot_id,
        member.identity,
        1 AS come,
        0 AS gone
    FROM pair
    INNER JOIN member_metrics AS member
        ON member.snapshot_id = pair.snapshot_id AND member.group_id = pair.group_id
    WHERE
        pair.previous IS NOT NULL
        AND NOT EXISTS (
            SELECT FROM member_metrics AS other
            WHERE
                other.snapshot_id = pair.previous
                AND other.group_id = member.group_id
                AND other.member_id = member.member_id
        )
    UNION ALL
    SELECT
        pair.group_id,
        pair.snapshot_id,
        member.identity,
        0 AS come,
        1 AS gone
    FROM pair
    INNER JOIN member_metrics AS member
        ON member.snapshot_id = pair.previous AND member.group_id = pair.group_id
    WHERE NOT EXISTS (
        SELECT FROM member_metrics AS other
        WHERE
            other.snapshot_id = pair.snapshot_id
            AND other.group_id = member.group_id
            AND other.member_id = member.member_id
    )
),

changed AS (
    SELECT
        group_id,
        snapshot_id,
        identity,
        greatest(sum(come) - sum(gone), 0) AS joined,
        greatest(sum(gone) - sum(come), 0) AS gone,
        least(sum(come), sum(gone)) AS restarted
    FROM lone
    GROUP BY group_id, snapshot_id, identity
),

movement AS (
    SELECT
        pair.cluster,
        pair.group_id,
        count(DISTINCT pair.snapshot_id) FILTER (WHERE pair.previous IS NOT NULL) AS compared,
        count(DISTINCT changed.snapshot_id) AS changed,
        coalesce(sum(changed.joined), 0)::bigint AS joins,
        coalesce(sum(changed.gone), 0)::bigint AS leaves,
        coalesce(sum(changed.restarted), 0)::bigint AS restarts,
        coalesce(array_agg(DISTINCT changed.identity) FILTER (WHERE changed.joined > 0), '{}') AS who_joined,
        coalesce(array_agg(DISTINCT changed.identity) FILTER (WHERE changed.gone > 0), '{}') AS who_left,
        coalesce(array_agg(DISTINCT changed.identity) FILTER (WHERE changed.restarted > 0), '{}') AS who_restarted
    FROM pair
    LEFT JOIN changed ON changed.snapshot_id = pair.snapshot_id AND changed.group_id = pair.group_id
    GROUP BY pair.cluster, pair.group_id
),

observed AS (
    SELECT
        cluster,
        group_id,
        min(started_at) AS since,
        max(started_at) AS until,
        count(*) AS snapshots,
        count(*) FILTER (WHERE NOT readable) AS unreadable,
        count(*) FILTER (WHERE readable AND rebalancing) AS rebalancing
    FROM seen
    GROUP BY cluster, group_id
)

SELECT
    observed.cluster,
    observed.group_id,
    observed.snapshots,
    observed.unreadable,
    observed.rebalancing,
    observed.rebalancing::double precision
    / nullif(observed.snapshots - observed.unreadable, 0) AS rebalancing_share,
    coalesce(movement.compared, 0) AS compared,
    CASE WHEN movement.compared > 0 THEN movement.changed END AS changed,
    CASE WHEN movement.compared > 0 THEN movement.joins END AS joins,
    CASE WHEN movement.compared > 0 THEN movement.leaves END AS leaves,
    CASE WHEN movement.compared > 0 THEN movement.restarts END AS restarts,
    CASE WHEN movement.compared > 0 THEN movement.who_joined[1:20] END AS who_joined,
    CASE WHEN movement.compared > 0 THEN movement.who_left[1:20] END AS who_left,
    CASE WHEN movement.compared > 0 THEN movement.who_restarted[1:20] END AS who_restarted,
    observed.since,
    observed.until
FROM observed
LEFT JOIN movement ON movement.cluster = observed.cluster AND movement.group_id = observed.group_id
ORDER BY
    observed.rebalancing DESC,
    coalesce(movement.joins + movement.leaves + movement.restarts, 0) DESC,
    observed.cluster,
    observed.group_id;
