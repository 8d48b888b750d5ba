-- Stores the main metrics of a snapshot as samples, and deletes those of an earlier try.
--
-- Parameters:
--   :snapshot_id text      Id of the snapshot.
--   :cluster text          Configured name of the cluster.
--   :taken_at timestamptz  Start of the snapshot; restricts the statement to the table of its day.
INSERT INTO consumer_group (cluster, group_id)
SELECT
    metrics.cluster,
    metrics.group_id
FROM group_metrics AS metrics
WHERE
    metrics.snapshot_id = :snapshot_id
    AND NOT EXISTS (
        SELECT FROM consumer_group AS known
        WHERE known.cluster = metrics.cluster AND known.group_id = metrics.group_id
    )
ON CONFLICT DO NOTHING;

DELETE FROM group_sample
WHERE
    taken_at = CAST(:taken_at AS timestamptz)
    AND group_number IN (SELECT known.group_number FROM consumer_group AS known WHERE known.cluster = :cluster);

INSERT INTO group_sample (
    group_number, members, taken_at, total_lag, largest_member_lag, lag_lower_bound, partitions, unknown_lag_partitions,
    lag_skew, delay_seconds, time_lag_seconds, production_per_second, consumption_per_second,
    cross_rack_bytes_per_second, cross_rack_cost_per_month, partitions_moved, members_joined, members_left,
    members_restarted, readable, compared, reassigned, status, state, diagnosis, currency, would_have_moved
)
SELECT
    known.group_number,
    metrics.members,
    snapshot.started_at,
    metrics.total_lag,
    metrics.largest_member_lag,
    metrics.lag_lower_bound,
    metrics.partitions,
    nullif(metrics.unknown_lag_partitions, 0),
    metrics.lag_skew,
    metrics.delay_seconds,
    metrics.time_lag_seconds,
    metrics.production_per_second,
    metrics.consumption_per_second,
    metrics.cross_rack_bytes_per_second,
    metrics.cross_rack_cost_per_month,
    nullif(metrics.partitions_moved, 0),
    nullif(metrics.members_joined, 0),
    nullif(metrics.members_left, 0),
    nullif(metrics.members_restarted, 0),
    metrics.error IS NULL,
    metrics.members_joined IS NOT NULL,
    metrics.assignment IS DISTINCT FROM before.assignment,
    nullif(metrics.status, 'OK'),
    nullif(metrics.state, 'Stable'),
    metrics.diagnosis,
    metrics.currency,
    metrics.would_have_moved
FROM group_metrics AS metrics
INNER JOIN snapshot ON snapshot.snapshot_id = metrics.snapshot_id
INNER JOIN consumer_group AS known ON known.cluster = metrics.cluster AND known.group_id = metrics.group_id
LEFT JOIN LATERAL (
    SELECT earlier.snapshot_id FROM snapshot AS earlier
    WHERE
        earlier.cluster = snapshot.cluster
        AND earlier.measured_at IS NOT NULL
        AND earlier.started_at < snapshot.started_at
    ORDER BY earlier.started_at DESC, earlier.snapshot_id DESC LIMIT 1
) AS previous ON TRUE
LEFT JOIN group_metrics AS before
    ON before.snapshot_id = previous.snapshot_id AND before.group_id = metrics.group_id
WHERE metrics.snapshot_id = :snapshot_id
ORDER BY known.group_number;

-- the next snapshot was compared with an older one before this one existed; without metrics it is not compared again
UPDATE group_sample SET reassigned = later.assignment IS DISTINCT FROM metrics.assignment
FROM (
    SELECT
        snapshot.snapshot_id,
        snapshot.started_at
    FROM snapshot
    WHERE
        snapshot.cluster = :cluster
        AND snapshot.measured_at IS NOT NULL
        AND snapshot.started_at > CAST(:taken_at AS timestamptz)
    ORDER BY snapshot.started_at, snapshot.snapshot_id LIMIT 1
) AS next
INNER JOIN group_metrics AS later ON later.snapshot_id = next.snapshot_id
INNER JOIN consumer_group AS known ON known.cluster = later.cluster AND known.group_id = later.group_id
LEFT JOIN group_metrics AS metrics
    ON metrics.snapshot_id = :snapshot_id AND metrics.group_id = later.group_id
WHERE
    group_sample.group_number = known.group_number
    AND group_sample.taken_at = next.started_at
    AND group_sample.taken_at > CAST(:taken_at AS timestamptz);
