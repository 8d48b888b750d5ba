-- How often do groups rebalance, what does that cost, and which members join and leave? One row per group, most
-- changes first. Members are compared between consecutive stable snapshots (`compared`, of which `changed` differ). A
-- member with a new identity (instance id, otherwise client id and host) joined; the same identity with a new member
-- id restarted. Rebalances between two snapshots may leave no trace, so all numbers are lower bounds.
-- `rebalancing_share` is a fraction of 1 of the readable snapshots. The who_ columns list at most 20 identities.
-- `moved` counts partitions that were reassigned by the changes. `held_up_offsets` are the records that came in while
-- snapshots found the group rebalancing, each until the next one; a cooperative group continues to read meanwhile. It
-- is null if every rebalance was between two snapshots.
--
-- Parameters:
--   :cluster text = null            Configured name of the cluster; null for all clusters.
--   :group text = null              Consumer group; null for all groups.
--   :hours double precision = 24    Length of the period in hours.
--   :until timestamptz = null       End of the period; null for now.
--
-- Columns as in: group_metrics.
-- Its own columns:
--   snapshots bigint                    Number of snapshots in the period.
--   unreadable bigint (snapshots)       Number of those in which the group could not be read.
--   rebalancing bigint (snapshots)      Number of those in which it was rebalancing.
--   rebalancing_share double precision  Share of the readable snapshots in which it was rebalancing.
--   compared bigint (snapshots)         Number of snapshots compared with the previous one.
--   changed bigint (snapshots)          Number of those with membership changes.
--   joins bigint (members)              Number of members that joined.
--   leaves bigint (members)             Number of members that left.
--   restarts bigint (members)           Number of members that restarted.
--   moved bigint (partitions)           Number of partitions that were reassigned.
--   held_up_offsets double precision    Number of offsets that came in while snapshots found it rebalancing.
--   who_joined text[]                   Identities that joined.
--   who_left text[]                     Identities that left.
--   who_restarted text[]                Identities that restarted.
--   since timestamptz                   Start of the first snapshot.
--   until timestamptz                   Start of the last snapshot.
WITH seen AS (
    SELECT
        history.cluster,
        history.group_id,
        history.taken_at,
        history.readable,
        is_rebalancing(history.state) AS rebalancing,
        history.partitions_moved,
        history.production_per_second
        * extract(
            epoch FROM lead(history.taken_at) OVER (
                PARTITION BY history.cluster, history.group_id ORDER BY history.taken_at
            ) - history.taken_at
        )::double precision AS arrives_until_next
    FROM lag_history AS history
    WHERE
        (CAST(:cluster AS text) IS NULL OR history.cluster = CAST(:cluster AS text))
        AND (CAST(:group AS text) IS NULL OR history.group_id = CAST(:group AS text))
        AND history.taken_at <= coalesce(CAST(:until AS timestamptz), now())
        AND history.taken_at >= coalesce(CAST(:until AS timestamptz), now())
        - make_interval(secs => 3600 * CAST(:hours AS double precision))
),

observed AS (
    SELECT
        cluster,
        group_id,
        min(taken_at) AS since,
        max(taken_at) AS until,
        count(*) AS snapshots,
        count(*) FILTER (WHERE NOT readable) AS unreadable,
        count(*) FILTER (WHERE readable AND rebalancing) AS rebalancing,
        count(*) FILTER (WHERE readable AND NOT rebalancing) - 1 AS compared,
        min(taken_at) FILTER (WHERE readable AND NOT rebalancing) AS at_rest_since,
        sum(partitions_moved)::bigint AS moved,
        sum(arrives_until_next) FILTER (WHERE readable AND rebalancing) AS held_up_offsets
    FROM seen
    GROUP BY cluster, group_id
),

-- members of only one of two snapshots; the id distinguishes members with the same identity
lone AS (
    SELECT
        observed.cluster,
        observed.group_id,
        span.identity,
        span.since AS at,
        1 AS come,
        0 AS gone
    FROM observed
    INNER JOIN member_span AS span ON span.cluster = observed.cluster AND span.group_id = observed.group_id
    WHERE span.since > observed.at_rest_since AND span.since <= observed.until
    UNION ALL
    SELECT
        observed.cluster,
        observed.group_id,
        span.identity,
        span.until AS at,
        0 AS come,
        1 AS gone
    FROM observed
    INNER JOIN member_span AS span ON span.cluster = observed.cluster AND span.group_id = observed.group_id
    WHERE span.until > observed.at_rest_since AND span.until <= observed.until
),

changed AS (
    SELECT
        cluster,
        group_id,
        at,
        identity,
        greatest(sum(come) - sum(gone), 0) AS joined,
        greatest(sum(gone) - sum(come), 0) AS gone,
        least(sum(come), sum(gone)) AS restarted
    FROM lone
    GROUP BY cluster, group_id, at, identity
),

movement AS (
    SELECT
        observed.cluster,
        observed.group_id,
        count(DISTINCT changed.at) AS changed,
        coalesce(sum(changed.joined), 0)::bigint AS joins,
        coalesce(sum(changed.gone), 0)::bigint AS leaves,
        coalesce(sum(changed.restarted), 0)::bigint AS restarts,
        coalesce(array_agg(DISTINCT changed.identity) FILTER (WHERE changed.joined > 0), '{}') AS who_joined,
        coalesce(array_agg(DISTINCT changed.identity) FILTER (WHERE changed.gone > 0), '{}') AS who_left,
        coalesce(array_agg(DISTINCT changed.identity) FILTER (WHERE changed.restarted > 0), '{}') AS who_restarted
    FROM observed
    LEFT JOIN changed ON changed.cluster = observed.cluster AND changed.group_id = observed.group_id
    WHERE observed.compared > 0
    GROUP BY observed.cluster, observed.group_id
)

SELECT
    observed.cluster,
    observed.group_id,
    observed.rebalancing,
    CASE
        WHEN observed.rebalancing > 0 THEN observed.held_up_offsets
        WHEN movement.changed = 0 THEN 0
    END AS held_up_offsets,
    movement.changed,
    movement.joins,
    movement.leaves,
    movement.restarts,
    observed.moved,
    observed.rebalancing::double precision
    / nullif(observed.snapshots - observed.unreadable, 0) AS rebalancing_share,
    greatest(observed.compared, 0) AS compared,
    observed.snapshots,
    observed.unreadable,
    movement.who_joined[1:20] AS who_joined,
    movement.who_left[1:20] AS who_left,
    movement.who_restarted[1:20] AS who_restarted,
    observed.since,
    observed.until
FROM observed
LEFT JOIN movement ON movement.cluster = observed.cluster AND movement.group_id = observed.group_id
ORDER BY
    observed.rebalancing DESC,
    coalesce(movement.joins + movement.leaves + movement.restarts, 0) DESC,
    observed.cluster,
    observed.group_id;
