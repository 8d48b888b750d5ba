-- One row per group and day with a snapshot that is not yet rolled up in group_day: its future row there, computed
-- from the rows of group_hour and group_hour_open. Other views and the maintenance read it.
--
-- Columns as in: group_day.
CREATE OR REPLACE VIEW group_day_open AS
WITH days AS MATERIALIZED (
    SELECT DISTINCT
        snapshot.cluster,
        date_bin('1 day', snapshot.started_at, '2000-01-01 00:00:00+00') AS since
    FROM snapshot
    WHERE snapshot.measured_at IS NOT NULL AND snapshot.rolled_up_at IS NULL
)

SELECT
    hours.cluster,
    hours.group_id,
    date_bin('1 day', hours.since, '2000-01-01 00:00:00+00') AS since,
    sum(hours.snapshots)::integer AS snapshots,
    sum(hours.unreadable_snapshots)::integer AS unreadable_snapshots,
    sum(hours.covered_seconds) AS covered_seconds,
    sum(hours.known_lag_snapshots)::integer AS known_lag_snapshots,
    min(hours.lowest_lag) AS lowest_lag,
    sum(hours.mean_lag * hours.known_lag_snapshots)
        / nullif(sum(hours.known_lag_snapshots), 0) AS mean_lag,
    max(hours.highest_lag) AS highest_lag,
    (array_agg(hours.last_lag ORDER BY hours.since DESC) FILTER (WHERE hours.last_lag IS NOT NULL))[1]
        AS last_lag,
    max(hours.highest_delay_seconds) AS highest_delay_seconds,
    max(hours.highest_time_lag_seconds) AS highest_time_lag_seconds,
    min(hours.fewest_members) AS fewest_members,
    max(hours.most_members) AS most_members,
    sum(hours.known_production_snapshots)::integer AS known_production_snapshots,
    sum(hours.production_per_second * hours.known_production_snapshots)
        / nullif(sum(hours.known_production_snapshots), 0) AS production_per_second,
    sum(hours.known_consumption_snapshots)::integer AS known_consumption_snapshots,
    sum(hours.consumption_per_second * hours.known_consumption_snapshots)
        / nullif(sum(hours.known_consumption_snapshots), 0) AS consumption_per_second,
    (
        SELECT coalesce(jsonb_object_agg(summed.diagnosis, summed.seconds), '{}')
        FROM (
            SELECT
                each.diagnosis,
                sum(each.seconds::double precision) AS seconds
            FROM unnest(array_agg(hours.diagnosis_seconds)) AS listed (hour)
            CROSS JOIN LATERAL jsonb_each_text(listed.hour) AS each (diagnosis, seconds)
            GROUP BY each.diagnosis
        ) AS summed
    ) AS diagnosis_seconds,
    sum(hours.cross_rack_seconds) AS cross_rack_seconds,
    sum(hours.cross_rack_bytes) AS cross_rack_bytes,
    CASE WHEN min(hours.currency) = max(hours.currency) THEN sum(hours.cross_rack_cost) END AS cross_rack_cost,
    CASE WHEN min(hours.currency) = max(hours.currency) THEN min(hours.currency) END AS currency,
    sum(hours.rebalancing_snapshots)::integer AS rebalancing_snapshots,
    sum(hours.compared_snapshots)::integer AS compared_snapshots,
    sum(hours.changed_snapshots)::integer AS changed_snapshots,
    sum(hours.members_joined)::integer AS members_joined,
    sum(hours.members_left)::integer AS members_left,
    sum(hours.members_restarted)::integer AS members_restarted,
    sum(hours.partitions_moved)::integer AS partitions_moved,
    (
        SELECT coalesce(jsonb_agg(to_jsonb(summed) ORDER BY summed.strategy), '[]')
        FROM (
            SELECT
                each.strategy,
                sum(each.moves)::bigint AS moves,
                sum(each.changes)::bigint AS changes
            FROM unnest(array_agg(hours.would_have_moved)) AS listed (hour)
            CROSS JOIN LATERAL jsonb_to_recordset(listed.hour) AS each (strategy text, moves bigint, changes bigint)
            GROUP BY each.strategy
        ) AS summed
    ) AS would_have_moved,
    sum(hours.advised_snapshots)::integer AS advised_snapshots,
    (
        SELECT coalesce(jsonb_agg(to_jsonb(summed) ORDER BY summed.strategy), '[]')
        FROM (
            SELECT
                each.strategy,
                sum(each.won)::bigint AS won,
                sum(each.advised)::bigint AS advised
            FROM unnest(array_agg(hours.wins)) AS listed (hour)
            CROSS JOIN LATERAL jsonb_to_recordset(listed.hour) AS each (strategy text, won bigint, advised bigint)
            GROUP BY each.strategy
        ) AS summed
    ) AS wins
FROM (
    SELECT
        open.cluster,
        open.group_id,
        open.since,
        open.snapshots,
        open.unreadable_snapshots,
        open.covered_seconds,
        open.known_lag_snapshots,
        open.lowest_lag,
        open.mean_lag,
        open.highest_lag,
        open.last_lag,
        open.highest_delay_seconds,
        open.highest_time_lag_seconds,
        open.fewest_members,
        open.most_members,
        open.known_production_snapshots,
        open.production_per_second,
        open.known_consumption_snapshots,
        open.consumption_per_second,
        open.diagnosis_seconds,
        open.cross_rack_seconds,
        open.cross_rack_bytes,
        open.cross_rack_cost,
        open.currency,
        open.rebalancing_snapshots,
        open.compared_snapshots,
        open.changed_snapshots,
        open.members_joined,
        open.members_left,
        open.members_restarted,
        open.partitions_moved,
        open.would_have_moved,
        open.advised_snapshots,
        open.wins
    FROM group_hour_open AS open
    UNION ALL
    SELECT
        hour.cluster,
        hour.group_id,
        hour.since,
        hour.snapshots,
        hour.unreadable_snapshots,
        hour.covered_seconds,
        hour.known_lag_snapshots,
        hour.lowest_lag,
        hour.mean_lag,
        hour.highest_lag,
        hour.last_lag,
        hour.highest_delay_seconds,
        hour.highest_time_lag_seconds,
        hour.fewest_members,
        hour.most_members,
        hour.known_production_snapshots,
        hour.production_per_second,
        hour.known_consumption_snapshots,
        hour.consumption_per_second,
        hour.diagnosis_seconds,
        hour.cross_rack_seconds,
        hour.cross_rack_bytes,
        hour.cross_rack_cost,
        hour.currency,
        hour.rebalancing_snapshots,
        hour.compared_snapshots,
        hour.changed_snapshots,
        hour.members_joined,
        hour.members_left,
        hour.members_restarted,
        hour.partitions_moved,
        hour.would_have_moved,
        hour.advised_snapshots,
        hour.wins
    FROM days
    INNER JOIN group_hour AS hour
        ON
            hour.cluster = days.cluster
            AND hour.since >= days.since
            AND hour.since < days.since + interval '24 hours'
            -- skips the hours of days without new snapshots
            AND hour.since >= (SELECT min(first.since) FROM days AS first)
            AND hour.since < (SELECT max(last.since) FROM days AS last) + interval '24 hours'
    WHERE
        NOT EXISTS (
            SELECT FROM snapshot AS fresh
            WHERE
                fresh.cluster = hour.cluster
                AND fresh.measured_at IS NOT NULL
                AND fresh.rolled_up_at IS NULL
                AND date_bin('1 hour', fresh.started_at, '2000-01-01 00:00:00+00') = hour.since
        )
) AS hours
GROUP BY hours.cluster, hours.group_id, date_bin('1 day', hours.since, '2000-01-01 00:00:00+00');
