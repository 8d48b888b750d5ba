-- Hours and days of every group, made from its snapshots before these go, and since when it has the diagnosis that it has.

-- a view has this name now
ALTER INDEX advice_history RENAME TO advice_of_group;

ALTER TABLE snapshot ADD COLUMN rolled_up_at timestamptz;

COMMENT ON COLUMN snapshot.rolled_up_at IS
    'When it was last counted in its hour; null: not yet, or something of it was stored since.';

-- an hour and a day begin as in UTC, whatever the time zone of who asks
CREATE INDEX snapshot_not_rolled_up ON snapshot (cluster, date_bin('1 hour', started_at, '2000-01-01 00:00:00+00'))
WHERE measured_at IS NOT NULL AND rolled_up_at IS NULL;

CREATE TABLE group_hour (
    cluster text NOT NULL,
    group_id text NOT NULL,
    since timestamptz NOT NULL,
    snapshots integer NOT NULL,
    unreadable_snapshots integer NOT NULL,
    covered_seconds double precision NOT NULL,
    known_lag_snapshots integer NOT NULL,
    lowest_lag bigint,
    mean_lag double precision,
    highest_lag bigint,
    last_lag bigint,
    highest_delay_seconds double precision,
    highest_time_lag_seconds double precision,
    fewest_members integer,
    most_members integer,
    known_production_snapshots integer NOT NULL,
    production_per_second double precision,
    known_consumption_snapshots integer NOT NULL,
    consumption_per_second double precision,
    diagnosis_seconds jsonb NOT NULL,
    cross_rack_seconds double precision NOT NULL,
    cross_rack_bytes double precision,
    cross_rack_cost double precision,
    currency text,
    rebalancing_snapshots integer NOT NULL,
    compared_snapshots integer NOT NULL,
    changed_snapshots integer NOT NULL,
    members_joined integer,
    members_left integer,
    members_restarted integer,
    partitions_moved integer,
    would_have_moved jsonb NOT NULL,
    advised_snapshots integer NOT NULL,
    wins jsonb NOT NULL,
    CONSTRAINT group_hour_pkey PRIMARY KEY (cluster, group_id, since)
);

CREATE INDEX group_hour_since ON group_hour (since);

CREATE TABLE group_day (
    cluster text NOT NULL,
    group_id text NOT NULL,
    since timestamptz NOT NULL,
    snapshots integer NOT NULL,
    unreadable_snapshots integer NOT NULL,
    covered_seconds double precision NOT NULL,
    known_lag_snapshots integer NOT NULL,
    lowest_lag bigint,
    mean_lag double precision,
    highest_lag bigint,
    last_lag bigint,
    highest_delay_seconds double precision,
    highest_time_lag_seconds double precision,
    fewest_members integer,
    most_members integer,
    known_production_snapshots integer NOT NULL,
    production_per_second double precision,
    known_consumption_snapshots integer NOT NULL,
    consumption_per_second double precision,
    diagnosis_seconds jsonb NOT NULL,
    cross_rack_seconds double precision NOT NULL,
    cross_rack_bytes double precision,
    cross_rack_cost double precision,
    currency text,
    rebalancing_snapshots integer NOT NULL,
    compared_snapshots integer NOT NULL,
    changed_snapshots integer NOT NULL,
    members_joined integer,
    members_left integer,
    members_restarted integer,
    partitions_moved integer,
    would_have_moved jsonb NOT NULL,
    advised_snapshots integer NOT NULL,
    wins jsonb NOT NULL,
    CONSTRAINT group_day_pkey PRIMARY KEY (cluster, group_id, since)
);

CREATE INDEX group_day_since ON group_day (since);

CREATE TABLE diagnosis_span (
    cluster text NOT NULL,
    group_id text NOT NULL,
    diagnosis text NOT NULL,
    since timestamptz NOT NULL,
    until timestamptz,
    already_so boolean NOT NULL,
    CONSTRAINT diagnosis_span_pkey PRIMARY KEY (cluster, group_id, since)
);

CREATE UNIQUE INDEX diagnosis_span_open ON diagnosis_span (cluster, group_id) WHERE until IS NULL;
CREATE INDEX diagnosis_span_until ON diagnosis_span (until);
CREATE INDEX incident_of_group ON incident (cluster, group_id, opened_at);

COMMENT ON TABLE group_hour IS
    'Hours of each group, in UTC, made from its snapshots by the upkeep; they stay longer than these.';
COMMENT ON COLUMN group_hour.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN group_hour.group_id IS 'The consumer group.';
COMMENT ON COLUMN group_hour.since IS 'When the hour began.';
COMMENT ON COLUMN group_hour.snapshots IS 'Number of snapshots that show it.';
COMMENT ON COLUMN group_hour.unreadable_snapshots IS 'Number of those that could not read it, or withheld it.';
COMMENT ON COLUMN group_hour.covered_seconds IS
    'Seconds that they stand for: each for those since the snapshot before it, an hour at most.';
COMMENT ON COLUMN group_hour.known_lag_snapshots IS 'Number of snapshots in which its lag is known.';
COMMENT ON COLUMN group_hour.lowest_lag IS 'Lowest of these lags; null when none is known.';
COMMENT ON COLUMN group_hour.mean_lag IS 'Mean of these lags.';
COMMENT ON COLUMN group_hour.highest_lag IS 'Highest of these lags.';
COMMENT ON COLUMN group_hour.last_lag IS 'The last of these lags.';
COMMENT ON COLUMN group_hour.highest_delay_seconds IS
    'How far it was behind at worst, beyond its commit interval, as far as known.';
COMMENT ON COLUMN group_hour.highest_time_lag_seconds IS
    'Highest age of its oldest record not yet consumed, as far as known.';
COMMENT ON COLUMN group_hour.fewest_members IS 'Number of members when they were fewest.';
COMMENT ON COLUMN group_hour.most_members IS 'Number of members when they were most.';
COMMENT ON COLUMN group_hour.known_production_snapshots IS 'Number of snapshots in which its production is known.';
COMMENT ON COLUMN group_hour.production_per_second IS 'Mean of the offsets per second produced to its partitions.';
COMMENT ON COLUMN group_hour.known_consumption_snapshots IS 'Number of snapshots in which its consumption is known.';
COMMENT ON COLUMN group_hour.consumption_per_second IS 'Mean of the offsets per second that it commits.';
COMMENT ON COLUMN group_hour.diagnosis_seconds IS
    'Of the seconds covered, how many each diagnosis held: {diagnosis: seconds}.';
COMMENT ON COLUMN group_hour.cross_rack_seconds IS
    'Of the seconds covered, those of which it is known what crossed racks.';
COMMENT ON COLUMN group_hour.cross_rack_bytes IS 'Bytes that crossed racks in these; null when that is never known.';
COMMENT ON COLUMN group_hour.cross_rack_cost IS
    'What those cost at the price then configured; null without a price or when it changed its currency.';
COMMENT ON COLUMN group_hour.currency IS 'Currency of the cost, ISO 4217; null without one.';
COMMENT ON COLUMN group_hour.rebalancing_snapshots IS 'Number of snapshots in which it was rebalancing.';
COMMENT ON COLUMN group_hour.compared_snapshots IS 'Number of snapshots whose members are compared with those before.';
COMMENT ON COLUMN group_hour.changed_snapshots IS
    'Number of those in which members had joined, left or restarted: so many rebalances, or more.';
COMMENT ON COLUMN group_hour.members_joined IS 'Number of members that joined; null when none could be compared.';
COMMENT ON COLUMN group_hour.members_left IS 'Number of members that left.';
COMMENT ON COLUMN group_hour.members_restarted IS 'Number of members that restarted.';
COMMENT ON COLUMN group_hour.partitions_moved IS 'Number of partitions that went from one member to another by that.';
COMMENT ON COLUMN group_hour.would_have_moved IS
    'What strategies in force before would have moved instead: a list of {strategy, moves, changes}.';
COMMENT ON COLUMN group_hour.advised_snapshots IS 'Number of snapshots after which it was told to switch or to stay.';
COMMENT ON COLUMN group_hour.wins IS
    'Which strategy won then, null where none did: a list of {strategy, won, advised}.';

COMMENT ON TABLE group_day IS
    'Days of each group, in UTC, made from its hours by the upkeep; they stay longer than these.';
COMMENT ON COLUMN group_day.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN group_day.group_id IS 'The consumer group.';
COMMENT ON COLUMN group_day.since IS 'When the day began.';
COMMENT ON COLUMN group_day.snapshots IS 'Number of snapshots that show it.';
COMMENT ON COLUMN group_day.unreadable_snapshots IS 'Number of those that could not read it, or withheld it.';
COMMENT ON COLUMN group_day.covered_seconds IS
    'Seconds that they stand for: each for those since the snapshot before it, an hour at most.';
COMMENT ON COLUMN group_day.known_lag_snapshots IS 'Number of snapshots in which its lag is known.';
COMMENT ON COLUMN group_day.lowest_lag IS 'Lowest of these lags; null when none is known.';
COMMENT ON COLUMN group_day.mean_lag IS 'Mean of these lags.';
COMMENT ON COLUMN group_day.highest_lag IS 'Highest of these lags.';
COMMENT ON COLUMN group_day.last_lag IS 'The last of these lags.';
COMMENT ON COLUMN group_day.highest_delay_seconds IS
    'How far it was behind at worst, beyond its commit interval, as far as known.';
COMMENT ON COLUMN group_day.highest_time_lag_seconds IS
    'Highest age of its oldest record not yet consumed, as far as known.';
COMMENT ON COLUMN group_day.fewest_members IS 'Number of members when they were fewest.';
COMMENT ON COLUMN group_day.most_members IS 'Number of members when they were most.';
COMMENT ON COLUMN group_day.known_production_snapshots IS 'Number of snapshots in which its production is known.';
COMMENT ON COLUMN group_day.production_per_second IS 'Mean of the offsets per second produced to its partitions.';
COMMENT ON COLUMN group_day.known_consumption_snapshots IS 'Number of snapshots in which its consumption is known.';
COMMENT ON COLUMN group_day.consumption_per_second IS 'Mean of the offsets per second that it commits.';
COMMENT ON COLUMN group_day.diagnosis_seconds IS
    'Of the seconds covered, how many each diagnosis held: {diagnosis: seconds}.';
COMMENT ON COLUMN group_day.cross_rack_seconds IS
    'Of the seconds covered, those of which it is known what crossed racks.';
COMMENT ON COLUMN group_day.cross_rack_bytes IS 'Bytes that crossed racks in these; null when that is never known.';
COMMENT ON COLUMN group_day.cross_rack_cost IS
    'What those cost at the price then configured; null without a price or when it changed its currency.';
COMMENT ON COLUMN group_day.currency IS 'Currency of the cost, ISO 4217; null without one.';
COMMENT ON COLUMN group_day.rebalancing_snapshots IS 'Number of snapshots in which it was rebalancing.';
COMMENT ON COLUMN group_day.compared_snapshots IS 'Number of snapshots whose members are compared with those before.';
COMMENT ON COLUMN group_day.changed_snapshots IS
    'Number of those in which members had joined, left or restarted: so many rebalances, or more.';
COMMENT ON COLUMN group_day.members_joined IS 'Number of members that joined; null when none could be compared.';
COMMENT ON COLUMN group_day.members_left IS 'Number of members that left.';
COMMENT ON COLUMN group_day.members_restarted IS 'Number of members that restarted.';
COMMENT ON COLUMN group_day.partitions_moved IS 'Number of partitions that went from one member to another by that.';
COMMENT ON COLUMN group_day.would_have_moved IS
    'What strategies in force before would have moved instead: a list of {strategy, moves, changes}.';
COMMENT ON COLUMN group_day.advised_snapshots IS 'Number of snapshots after which it was told to switch or to stay.';
COMMENT ON COLUMN group_day.wins IS 'Which strategy won then, null where none did: a list of {strategy, won, advised}.';

COMMENT ON TABLE diagnosis_span IS 'From when to when each group had which diagnosis, as its newest snapshots told.';
COMMENT ON COLUMN diagnosis_span.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN diagnosis_span.group_id IS 'The consumer group.';
COMMENT ON COLUMN diagnosis_span.diagnosis IS 'What was the matter with it; unknown where that could not be told.';
COMMENT ON COLUMN diagnosis_span.since IS 'When the first snapshot was taken that shows it so.';
COMMENT ON COLUMN diagnosis_span.until IS 'When the first snapshot was taken that shows it otherwise; null: none does.';
COMMENT ON COLUMN diagnosis_span.already_so IS
    'Whether it was so already when it was first looked at: then it may be so for longer.';
