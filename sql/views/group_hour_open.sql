-- One row per group and hour with a snapshot that is not yet rolled up in group_hour: its future row there. Other
-- views and the maintenance read it. A snapshot covers the time since the previous one, at most one hour, so later
-- snapshots don't change a past hour.
--
-- Columns as in: group_hour.
CREATE OR REPLACE VIEW group_hour_open AS
WITH taken AS MATERIALIZED (
    SELECT
        snapshot.snapshot_id,
        snapshot.cluster,
        snapshot.started_at,
        snapshot.advised_at IS NOT NULL AS advised,
        date_bin('1 hour', snapshot.started_at, '2000-01-01 00:00:00+00') AS since,
        CASE
            WHEN previous.started_at IS NOT NULL
                THEN least(extract(epoch FROM snapshot.started_at - previous.started_at), 3600)::double precision
        END AS seconds
    FROM snapshot
    LEFT JOIN LATERAL (
        SELECT earlier.started_at FROM snapshot AS earlier
        WHERE earlier.cluster = snapshot.cluster AND earlier.started_at < snapshot.started_at
        ORDER BY earlier.started_at DESC LIMIT 1
    ) AS previous ON TRUE
    WHERE
        snapshot.measured_at IS NOT NULL
        AND EXISTS (
            SELECT FROM snapshot AS fresh
            WHERE
                fresh.cluster = snapshot.cluster
                AND fresh.measured_at IS NOT NULL
                AND fresh.rolled_up_at IS NULL
                AND date_bin('1 hour', fresh.started_at, '2000-01-01 00:00:00+00')
                = date_bin('1 hour', snapshot.started_at, '2000-01-01 00:00:00+00')
        )
)

SELECT
    made.cluster,
    made.group_id,
    made.since,
    made.snapshots,
    made.unreadable_snapshots,
    made.covered_seconds,
    made.known_lag_snapshots,
    made.lowest_lag,
    made.mean_lag,
    made.highest_lag,
    made.last_lag,
    made.highest_delay_seconds,
    made.highest_time_lag_seconds,
    made.fewest_members,
    made.most_members,
    made.known_production_snapshots,
    made.production_per_second,
    made.known_consumption_snapshots,
    made.consumption_per_second,
    (
        SELECT coalesce(jsonb_object_agg(summed.diagnosis, summed.seconds), '{}')
        FROM (
            SELECT
                listed.diagnosis,
                sum(listed.seconds) AS seconds
            FROM unnest(made.diagnoses, made.spans) AS listed (diagnosis, seconds)
            WHERE listed.seconds IS NOT NULL
            GROUP BY listed.diagnosis
        ) AS summed
    ) AS diagnosis_seconds,
    made.cross_rack_seconds,
    made.cross_rack_bytes,
    made.cross_rack_cost,
    made.currency,
    made.rebalancing_snapshots,
    made.compared_snapshots,
    made.changed_snapshots,
    made.members_joined,
    made.members_left,
    made.members_restarted,
    made.partitions_moved,
    (
        SELECT coalesce(jsonb_agg(to_jsonb(summed) ORDER BY summed.strategy), '[]')
        FROM (
            SELECT
                each.strategy,
                sum(each.moves)::bigint AS moves,
                count(*) AS changes
            FROM jsonb_array_elements(made.replays) AS listed (replay)
            CROSS JOIN LATERAL jsonb_to_recordset(listed.replay) AS each (strategy text, moves bigint)
            GROUP BY each.strategy
        ) AS summed
    ) AS would_have_moved,
    made.advised_snapshots,
    (
        SELECT coalesce(jsonb_agg(to_jsonb(summed) ORDER BY summed.strategy), '[]')
        FROM (
            SELECT
                listed.strategy,
                count(*) AS won,
                count(*) FILTER (WHERE listed.verdict = 'switch') AS advised
            FROM unnest(made.winners, made.verdicts) AS listed (strategy, verdict)
            WHERE listed.verdict IN ('switch', 'stay')
            GROUP BY listed.strategy
        ) AS summed
    ) AS wins
FROM (
    SELECT
        known.cluster,
        known.group_id,
        -- an expression instead of the column: a filter by period on the column makes the planner expect no rows
        min(taken.since) AS since,
        count(*)::integer AS snapshots,
        (count(*) FILTER (WHERE NOT sample.readable))::integer AS unreadable_snapshots,
        coalesce(sum(taken.seconds), 0) AS covered_seconds,
        count(sample.total_lag)::integer AS known_lag_snapshots,
        min(sample.total_lag) AS lowest_lag,
        avg(sample.total_lag)::double precision AS mean_lag,
        max(sample.total_lag) AS highest_lag,
        (
            array_agg(sample.total_lag ORDER BY taken.started_at DESC, taken.snapshot_id DESC)
            FILTER (WHERE sample.total_lag IS NOT NULL)
        )[1] AS last_lag,
        max(sample.delay_seconds)::text::double precision AS highest_delay_seconds,
        max(sample.time_lag_seconds)::text::double precision AS highest_time_lag_seconds,
        min(sample.members) AS fewest_members,
        max(sample.members) AS most_members,
        count(sample.production_per_second)::integer AS known_production_snapshots,
        avg(sample.production_per_second) AS production_per_second,
        count(sample.consumption_per_second)::integer AS known_consumption_snapshots,
        avg(sample.consumption_per_second) AS consumption_per_second,
        array_agg(coalesce(sample.diagnosis, 'unknown')) AS diagnoses,
        array_agg(taken.seconds) AS spans,
        coalesce(sum(taken.seconds) FILTER (WHERE sample.cross_rack_bytes_per_second IS NOT NULL), 0)
            AS cross_rack_seconds,
        sum(sample.cross_rack_bytes_per_second * taken.seconds) AS cross_rack_bytes,
        CASE
            WHEN min(sample.currency) = max(sample.currency)
                -- a month is 30 days
                THEN sum(sample.cross_rack_cost_per_month * taken.seconds / 2592000)
        END AS cross_rack_cost,
        CASE WHEN min(sample.currency) = max(sample.currency) THEN min(sample.currency) END AS currency,
        (count(*) FILTER (WHERE is_rebalancing(sample.state) AND sample.readable))::integer AS rebalancing_snapshots,
        (count(*) FILTER (WHERE sample.compared))::integer AS compared_snapshots,
        (
            count(*) FILTER (
                WHERE coalesce(sample.members_joined, sample.members_left, sample.members_restarted) IS NOT NULL
            )
        )::integer AS changed_snapshots,
        (sum(coalesce(sample.members_joined, 0)) FILTER (WHERE sample.compared))::integer AS members_joined,
        (sum(coalesce(sample.members_left, 0)) FILTER (WHERE sample.compared))::integer AS members_left,
        (sum(coalesce(sample.members_restarted, 0)) FILTER (WHERE sample.compared))::integer AS members_restarted,
        (sum(coalesce(sample.partitions_moved, 0)) FILTER (WHERE sample.compared))::integer AS partitions_moved,
        jsonb_agg(sample.would_have_moved) FILTER (WHERE sample.would_have_moved IS NOT NULL) AS replays,
        (count(*) FILTER (WHERE advice.verdict IN ('switch', 'stay')))::integer AS advised_snapshots,
        array_agg(advice.strategy) AS winners,
        array_agg(advice.verdict) AS verdicts
    FROM taken
    INNER JOIN consumer_group AS known ON known.cluster = taken.cluster
    INNER JOIN group_sample AS sample
        ON
            sample.group_number = known.group_number
            AND sample.taken_at = taken.started_at
            -- skips days without new snapshots
            AND sample.taken_at >= (SELECT min(first.started_at) FROM taken AS first)
            AND sample.taken_at <= (SELECT max(last.started_at) FROM taken AS last)
    LEFT JOIN LATERAL (
        SELECT
            told.verdict,
            told.strategy
        FROM advice AS told
        WHERE
            taken.advised
            AND told.cluster = known.cluster
            AND told.group_id = known.group_id
            AND NOT told.repeats
            AND told.since <= taken.started_at
            AND coalesce(told.until, 'infinity') > taken.started_at
        ORDER BY told.since DESC LIMIT 1
    ) AS advice ON TRUE
    GROUP BY known.cluster, known.group_id, taken.since
) AS made;
