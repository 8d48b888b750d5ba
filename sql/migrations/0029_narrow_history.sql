-- What each snapshot said of each group in few columns, a table a day; advice and members from when to when. All columns
-- of a snapshot stay for hours only (`keep_detail_hours`).

CREATE TABLE consumer_group (
    group_number integer GENERATED ALWAYS AS IDENTITY,
    cluster text NOT NULL,
    group_id text NOT NULL,
    CONSTRAINT consumer_group_pkey PRIMARY KEY (group_number),
    CONSTRAINT consumer_group_key UNIQUE (cluster, group_id),
    CONSTRAINT consumer_group_cluster_fkey FOREIGN KEY (cluster) REFERENCES cluster ON DELETE CASCADE
);

COMMENT ON TABLE consumer_group IS 'Every group that was ever measured, and the number that stands for it.';
COMMENT ON COLUMN consumer_group.group_number IS 'Number of the group; short, as its history has it in every row.';
COMMENT ON COLUMN consumer_group.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN consumer_group.group_id IS 'The consumer group.';

CREATE TABLE group_sample (
    group_number integer NOT NULL,
    members integer,
    taken_at timestamptz NOT NULL,
    total_lag bigint,
    largest_member_lag bigint,
    lag_floor bigint,
    partitions integer,
    unknown_lag_partitions integer,
    lag_skew real,
    delay_seconds real,
    time_lag_seconds real,
    production_per_second real,
    consumption_per_second real,
    cross_rack_bytes_per_second real,
    cross_rack_cost_per_month real,
    partitions_moved integer,
    members_joined integer,
    members_left integer,
    members_restarted integer,
    forecast_soon_lag_low real,
    forecast_soon_lag_expected real,
    forecast_soon_lag_high real,
    forecast_lag_low real,
    forecast_lag_expected real,
    forecast_lag_high real,
    readable boolean NOT NULL,
    compared boolean NOT NULL,
    reassigned boolean NOT NULL,
    status text,
    state text,
    diagnosis text,
    currency text,
    would_have_moved jsonb,
    CONSTRAINT group_sample_pkey PRIMARY KEY (group_number, taken_at),
    CONSTRAINT group_sample_group_fkey FOREIGN KEY (group_number) REFERENCES consumer_group ON DELETE CASCADE
) PARTITION BY RANGE (taken_at);

-- rows come in order of time: the pages of a snapshot are found by what little this keeps of them
CREATE INDEX group_sample_taken_at ON group_sample USING brin (taken_at) WITH (
    pages_per_range = 16, autosummarize = on
);
CREATE INDEX group_sample_changes ON group_sample (group_number, taken_at) WHERE would_have_moved IS NOT NULL;

COMMENT ON TABLE group_sample IS
    'How each group fared in each snapshot, as far as that is asked for later; a table for each day in UTC.';
COMMENT ON COLUMN group_sample.group_number IS 'Which group.';
COMMENT ON COLUMN group_sample.members IS 'Number of members.';
COMMENT ON COLUMN group_sample.taken_at IS 'When the reading of the snapshot began.';
COMMENT ON COLUMN group_sample.total_lag IS 'Lag over all its partitions, in offsets; null when it is not known.';
COMMENT ON COLUMN group_sample.largest_member_lag IS 'Largest lag of a member, in offsets; null when a lag is unknown.';
COMMENT ON COLUMN group_sample.lag_floor IS 'No assignment has a smaller largest member lag than this, in offsets.';
COMMENT ON COLUMN group_sample.partitions IS 'Number of partitions inside the totals.';
COMMENT ON COLUMN group_sample.unknown_lag_partitions IS
    'Number of those whose lag is unknown; null: none, or it is not known how many there are.';
COMMENT ON COLUMN group_sample.lag_skew IS 'Largest member lag over mean member lag; null when the total is 0 or unknown.';
COMMENT ON COLUMN group_sample.delay_seconds IS 'How far it was behind beyond its commit interval.';
COMMENT ON COLUMN group_sample.time_lag_seconds IS 'Age in seconds of its oldest record not yet consumed.';
COMMENT ON COLUMN group_sample.production_per_second IS 'Offsets per second produced to its partitions.';
COMMENT ON COLUMN group_sample.consumption_per_second IS 'Offsets per second it committed.';
COMMENT ON COLUMN group_sample.cross_rack_bytes_per_second IS 'Bytes per second across racks.';
COMMENT ON COLUMN group_sample.cross_rack_cost_per_month IS 'What that costs in 30 days; null without a price.';
COMMENT ON COLUMN group_sample.partitions_moved IS
    'Partitions that went from one member to another since the snapshot before; null: none, or not compared.';
COMMENT ON COLUMN group_sample.members_joined IS 'Members that came since then; null: none, or not compared.';
COMMENT ON COLUMN group_sample.members_left IS 'Members that went since then; null: none, or not compared.';
COMMENT ON COLUMN group_sample.members_restarted IS
    'Members that came back under another id since then; null: none, or not compared.';
COMMENT ON COLUMN group_sample.forecast_soon_lag_low IS
    'Forecast of its lag as it was, low (one case in ten lies below): 15 minutes ahead.';
COMMENT ON COLUMN group_sample.forecast_soon_lag_expected IS
    'Forecast of its lag as it was, expected (half lie below): 15 minutes ahead.';
COMMENT ON COLUMN group_sample.forecast_soon_lag_high IS
    'Forecast of its lag as it was, high (one in ten above): 15 minutes ahead.';
COMMENT ON COLUMN group_sample.forecast_lag_low IS
    'Forecast of its lag as it was, low (one case in ten lies below): an hour ahead.';
COMMENT ON COLUMN group_sample.forecast_lag_expected IS
    'Forecast of its lag as it was, expected (half lie below): an hour ahead.';
COMMENT ON COLUMN group_sample.forecast_lag_high IS
    'Forecast of its lag as it was, high (one in ten above): an hour ahead.';
COMMENT ON COLUMN group_sample.readable IS 'Whether it could be read, and was not withheld.';
COMMENT ON COLUMN group_sample.compared IS 'Whether its members are compared with those of a snapshot before.';
COMMENT ON COLUMN group_sample.reassigned IS
    'Whether somebody else owns something than in the snapshot before, or that is not known.';
COMMENT ON COLUMN group_sample.status IS 'That of its worst partition; null: OK.';
COMMENT ON COLUMN group_sample.state IS 'State of the group, as the broker names it; null: Stable.';
COMMENT ON COLUMN group_sample.diagnosis IS 'What was the matter with it; null: not judged.';
COMMENT ON COLUMN group_sample.currency IS 'Currency of the cost, ISO 4217; null without a price.';
COMMENT ON COLUMN group_sample.would_have_moved IS
    'What strategies in force before would have moved instead: {strategy, moves}; null where nothing changed.';

-- The table of the day of a moment, where there is none yet. Who reads or writes other days is not held up by it.
CREATE FUNCTION make_sample_day(moment timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    first timestamptz := date_bin('1 day', moment, '2000-01-01 00:00:00+00');
    name text := 'group_sample_' || to_char(first AT TIME ZONE 'UTC', 'YYYYMMDD');
BEGIN
    IF to_regclass(quote_ident(name)) IS NOT NULL THEN RETURN; END IF;
    PERFORM pg_advisory_xact_lock(hashtext('group_sample'));
    IF to_regclass(quote_ident(name)) IS NOT NULL THEN RETURN; END IF;
    EXECUTE format('CREATE TABLE %I (LIKE group_sample INCLUDING ALL)', name);
    EXECUTE format('ALTER TABLE group_sample ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
        name, first, first + interval '24 hours');
END $$;

-- Packs the tables of days that ended by a moment, once: the rows of a group lie together then, and nothing between. Who asks
-- for that day waits meanwhile.
CREATE FUNCTION pack_sample_days(moment timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    day regclass;
BEGIN
    FOR day IN
        SELECT inhrelid::regclass FROM pg_inherits
        WHERE
            inhparent = 'group_sample'::regclass
            AND to_timestamp(right(inhrelid::regclass::text, 8) || '+00', 'YYYYMMDDTZH') + interval '24 hours' <= moment
            AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = inhrelid AND indisclustered)
    LOOP
        EXECUTE format('CLUSTER %s USING %s', day, (
            SELECT indexrelid::regclass FROM pg_index WHERE indrelid = day AND indisprimary
        ));
        EXECUTE format('ANALYZE %s', day);
    END LOOP;
END $$;

-- Drops the tables of days that ended by a moment.
CREATE FUNCTION drop_sample_days(moment timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    day regclass;
BEGIN
    FOR day IN
        SELECT inhrelid::regclass FROM pg_inherits
        WHERE
            inhparent = 'group_sample'::regclass
            AND to_timestamp(right(inhrelid::regclass::text, 8) || '+00', 'YYYYMMDDTZH') + interval '24 hours' <= moment
    LOOP
        EXECUTE format('DROP TABLE %s', day);
    END LOOP;
END $$;

INSERT INTO consumer_group (cluster, group_id)
SELECT DISTINCT
    cluster,
    group_id
FROM group_metrics;

SELECT make_sample_day(started_at) FROM snapshot WHERE measured_at IS NOT NULL;

INSERT INTO group_sample
SELECT
    known.group_number,
    metrics.members,
    snapshot.started_at,
    metrics.total_lag,
    metrics.largest_member_lag,
    metrics.lag_floor,
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
    live.forecast_soon_lag_low,
    live.forecast_soon_lag_expected,
    live.forecast_soon_lag_high,
    live.forecast_lag_low,
    live.forecast_lag_expected,
    live.forecast_lag_high,
    metrics.error IS NULL,
    metrics.members_joined IS NOT NULL,
    metrics.assignment IS DISTINCT FROM lag(metrics.assignment) OVER (
        PARTITION BY metrics.cluster, metrics.group_id ORDER BY snapshot.started_at, snapshot.snapshot_id
    ),
    nullif(metrics.status, 'OK'),
    nullif(metrics.state, 'Stable'),
    metrics.diagnosis,
    metrics.currency,
    metrics.would_have_moved
FROM group_metrics AS metrics
INNER JOIN snapshot ON snapshot.snapshot_id = metrics.snapshot_id
INNER JOIN consumer_group AS known ON known.cluster = metrics.cluster AND known.group_id = metrics.group_id
LEFT JOIN candidate AS live
    ON
        live.snapshot_id = metrics.snapshot_id
        AND live.group_id = metrics.group_id
        AND live.strategy = 'live'
ON CONFLICT DO NOTHING;

CREATE TABLE member_span (
    cluster text NOT NULL,
    group_id text NOT NULL,
    member_id text NOT NULL,
    IDENTITY text NOT NULL,
    since timestamptz NOT NULL,
    until timestamptz,
    CONSTRAINT member_span_pkey PRIMARY KEY (cluster, group_id, member_id, since),
    CONSTRAINT member_span_cluster_fkey FOREIGN KEY (cluster) REFERENCES cluster ON DELETE CASCADE
);

CREATE INDEX member_span_since ON member_span (cluster, since);
CREATE INDEX member_span_until ON member_span (cluster, until) WHERE until IS NOT NULL;
CREATE UNIQUE INDEX member_span_open ON member_span (cluster, group_id, member_id) WHERE until IS NULL;

COMMENT ON TABLE member_span IS
    'From when to when each group had which members, as its newest snapshots told in which it was at rest.';
COMMENT ON COLUMN member_span.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN member_span.group_id IS 'The consumer group.';
COMMENT ON COLUMN member_span.member_id IS 'Id the coordinator gave it; it changes when the member restarts.';
COMMENT ON COLUMN member_span.identity IS
    'What stays the same over restarts: the instance id, else client id and host.';
COMMENT ON COLUMN member_span.since IS 'When the first snapshot was taken that shows it.';
COMMENT ON COLUMN member_span.until IS 'When the first snapshot was taken that does not show it; null: none does.';

INSERT INTO member_span (cluster, group_id, member_id, identity, since)
SELECT
    member.cluster,
    member.group_id,
    member.member_id,
    member.identity,
    snapshot.started_at
FROM snapshot
INNER JOIN member_metrics AS member ON member.snapshot_id = snapshot.snapshot_id
WHERE
    snapshot.measured_at IS NOT NULL
    AND NOT EXISTS (
        SELECT FROM snapshot AS newer
        WHERE
            newer.cluster = snapshot.cluster
            AND newer.measured_at IS NOT NULL
            AND (newer.started_at, newer.snapshot_id) > (snapshot.started_at, snapshot.snapshot_id)
    );

ALTER TABLE snapshot
    ADD COLUMN checks integer,
    ADD COLUMN thinned_at timestamptz;

COMMENT ON COLUMN snapshot.checks IS 'Number of expectations that were checked; null when none was, or not counted.';
COMMENT ON COLUMN snapshot.thinned_at IS
    'When its metrics, candidates and repeated advice were forgotten here; null: what it got is here.';

UPDATE snapshot SET checks = counted.checks
FROM (
    SELECT
        snapshot_id,
        count(*)::integer AS checks
    FROM validation
    GROUP BY snapshot_id
) AS counted
WHERE counted.snapshot_id = snapshot.snapshot_id;

CREATE INDEX snapshot_thinned ON snapshot (cluster, thinned_at);

DROP INDEX group_metrics_history;
DROP INDEX group_metrics_changes;

ALTER TABLE advice
    ADD COLUMN since timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN until timestamptz,
    ADD COLUMN repeats boolean NOT NULL DEFAULT FALSE;

COMMENT ON TABLE advice IS
    'What each group was told, "stay" included: after the newest snapshots each, before these where it was another.';
COMMENT ON COLUMN advice.since IS
    'Since when it was told so: when the first snapshot in a row was taken with this verdict, strategy and state.';
COMMENT ON COLUMN advice.until IS
    'When the first snapshot was taken after which it was told otherwise; null: none was, or the row repeats another.';
COMMENT ON COLUMN advice.repeats IS 'Whether the advice before it said the same; such a row goes after some hours.';

WITH told AS (
    SELECT
        advice.advice_id,
        advice.cluster,
        advice.group_id,
        snapshot.started_at,
        snapshot.snapshot_id,
        lag(advice.advice_id) OVER same_group IS NOT NULL
        AND (lag(advice.verdict) OVER same_group, lag(advice.strategy) OVER same_group, lag(advice.state) OVER same_group)
        IS NOT DISTINCT FROM (advice.verdict, advice.strategy, advice.state) AS repeats
    FROM advice
    INNER JOIN snapshot ON snapshot.snapshot_id = advice.snapshot_id
    WINDOW
        same_group AS (
            PARTITION BY advice.cluster, advice.group_id ORDER BY snapshot.started_at, snapshot.snapshot_id
        )
),

numbered AS (
    SELECT
        told.*,
        count(*) FILTER (WHERE NOT told.repeats) OVER (
            PARTITION BY told.cluster, told.group_id ORDER BY told.started_at, told.snapshot_id
        ) AS span
    FROM told
),

spans AS (
    SELECT
        cluster,
        group_id,
        span,
        min(started_at) AS since,
        lead(min(started_at)) OVER (PARTITION BY cluster, group_id ORDER BY span) AS until
    FROM numbered
    GROUP BY cluster, group_id, span
)

UPDATE advice SET
    since = spans.since,
    until = CASE WHEN NOT numbered.repeats THEN spans.until END,
    repeats = numbered.repeats
FROM numbered
INNER JOIN spans
    ON spans.cluster = numbered.cluster AND spans.group_id = numbered.group_id AND spans.span = numbered.span
WHERE numbered.advice_id = advice.advice_id;

CREATE INDEX advice_span ON advice (cluster, group_id, since) WHERE NOT repeats;
CREATE INDEX advice_open ON advice (cluster, group_id) WHERE NOT repeats AND until IS NULL;

CREATE INDEX validation_failed ON validation (snapshot_id, group_id) WHERE NOT success AND severity = 'critical';
