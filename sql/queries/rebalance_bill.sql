-- What did rebalances cost, and which setting would have made them cheaper? One row per group and setting, most expensive
-- groups and best settings first. `partition_seconds` sums for how long partitions paused, `with_setting` the same if the
-- setting had been in use. A setting that doesn't apply to a cause leaves its cost as it was. The pause of a rebalance
-- is measured, configured or estimated from heartbeats (see the glossary).
--
-- Parameters:
--   :cluster text = null             Configured name of the cluster; null for all clusters.
--   :group text = null               Consumer group; null for all groups.
--   :hours double precision = 168    Length of the period in hours.
--   :until timestamptz = null        End of the period; null for now.
--
-- Columns as in: rebalance.
-- Its own columns:
--   setting text                            Static membership, cooperative rebalancing, consumer protocol, longer session timeout (on brokers).
--   rebalances bigint                       Number of rebalances, at least.
--   partitions_moved bigint (partitions)    Number of reassigned partitions.
--   partition_seconds double precision (s)  Partition-seconds without consumption.
--   with_setting double precision (s)       Partition-seconds without consumption, with the setting.
--   delayed_records double precision        Records that arrived meanwhile; null if unknown for one of the rebalances.
--   causes jsonb                            Number of rebalances by cause.
--   pause_bases text[]                      Sources of the pause of a rebalance; `usual` is estimated from heartbeats.
WITH events AS (
    SELECT
        event.cluster,
        event.group_id,
        event.cause,
        event.rebalances,
        event.partitions_moved,
        event.partition_seconds,
        event.delayed_records,
        event.pause_basis,
        event.with_remedy
    FROM rebalance AS event
    WHERE
        (CAST(:cluster AS text) IS NULL OR event.cluster = CAST(:cluster AS text))
        AND (CAST(:group AS text) IS NULL OR event.group_id = CAST(:group AS text))
        AND event.until <= coalesce(CAST(:until AS timestamptz), now())
        AND event.until > coalesce(CAST(:until AS timestamptz), now())
        - make_interval(secs => 3600 * CAST(:hours AS double precision))
),

by_cause AS (
    SELECT
        summed.cluster,
        summed.group_id,
        jsonb_object_agg(summed.cause, summed.rebalances ORDER BY summed.cause) AS causes
    FROM (
        SELECT
            cluster,
            group_id,
            cause,
            sum(rebalances) AS rebalances
        FROM events
        GROUP BY cluster, group_id, cause
    ) AS summed
    GROUP BY summed.cluster, summed.group_id
),

happened AS (
    SELECT
        cluster,
        group_id,
        sum(rebalances)::bigint AS rebalances,
        sum(partitions_moved)::bigint AS partitions_moved,
        sum(partition_seconds) AS partition_seconds,
        CASE WHEN count(*) = count(delayed_records) THEN sum(delayed_records) END AS delayed_records,
        array_agg(DISTINCT pause_basis ORDER BY pause_basis) AS pause_bases
    FROM events
    GROUP BY cluster, group_id
),

saved AS (
    SELECT
        events.cluster,
        events.group_id,
        each.remedy,
        sum(events.partition_seconds - each.partition_seconds) AS seconds
    FROM events
    CROSS JOIN LATERAL jsonb_to_recordset(events.with_remedy) AS each (remedy text, partition_seconds double precision)
    GROUP BY events.cluster, events.group_id, each.remedy
)

SELECT
    happened.cluster,
    happened.group_id,
    saved.remedy AS setting,
    happened.partition_seconds,
    happened.partition_seconds - saved.seconds AS with_setting,
    happened.delayed_records,
    happened.rebalances,
    happened.partitions_moved,
    by_cause.causes,
    happened.pause_bases
FROM happened
INNER JOIN by_cause ON by_cause.cluster = happened.cluster AND by_cause.group_id = happened.group_id
LEFT JOIN saved ON saved.cluster = happened.cluster AND saved.group_id = happened.group_id
ORDER BY happened.partition_seconds DESC, happened.cluster, happened.group_id, saved.seconds DESC NULLS LAST, setting;
