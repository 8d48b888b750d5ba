-- Past snapshots judged again by another configuration or version, beside what was said then.

CREATE TABLE backfill (
    backfill_id bigint GENERATED ALWAYS AS IDENTITY,
    cluster text NOT NULL,
    config_version text NOT NULL,
    evenkeel_version text NOT NULL,
    groups text NOT NULL,
    since timestamptz NOT NULL,
    until timestamptz NOT NULL,
    candidates_every_seconds double precision,
    snapshots integer NOT NULL,
    done_snapshots integer NOT NULL,
    done_through text,
    started_at timestamptz NOT NULL,
    finished_at timestamptz,
    CONSTRAINT backfill_pkey PRIMARY KEY (backfill_id),
    CONSTRAINT backfill_rules_key UNIQUE (cluster, config_version, evenkeel_version)
);

COMMENT ON TABLE backfill IS
    'Past snapshots of a cluster judged again, one row for each configuration and version they were judged by.';
COMMENT ON COLUMN backfill.backfill_id IS 'Number of the backfill.';
COMMENT ON COLUMN backfill.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN backfill.config_version IS 'Hash of the configuration that snapshots are judged by.';
COMMENT ON COLUMN backfill.evenkeel_version IS 'Version of evenkeel that judges them.';
COMMENT ON COLUMN backfill.groups IS 'Shell pattern of the groups of its newest run.';
COMMENT ON COLUMN backfill.since IS 'From when on that run judges snapshots.';
COMMENT ON COLUMN backfill.until IS 'Before when those were begun.';
COMMENT ON COLUMN backfill.candidates_every_seconds IS
    'So many seconds apart are snapshots with candidates; null: none has any.';
COMMENT ON COLUMN backfill.snapshots IS 'Number of snapshots to judge.';
COMMENT ON COLUMN backfill.done_snapshots IS 'Number of those that are done.';
COMMENT ON COLUMN backfill.done_through IS 'The newest snapshot that is done; null: none is.';
COMMENT ON COLUMN backfill.started_at IS 'When that run began.';
COMMENT ON COLUMN backfill.finished_at IS 'When it was done with all of them; null: it is not.';

CREATE TABLE backfilled_group (
    backfill_id bigint NOT NULL,
    taken_at timestamptz NOT NULL,
    group_id text NOT NULL,
    covered_seconds double precision,
    diagnosis text NOT NULL,
    diagnosis_then text,
    diagnosis_reason text,
    is_judged boolean,
    winner text,
    was_judged boolean,
    winner_then text,
    differs boolean NOT NULL,
    status text NOT NULL,
    members integer,
    partitions integer,
    total_lag bigint,
    lag_skew double precision,
    delay_seconds double precision,
    time_lag_seconds double precision,
    production_per_second double precision,
    consumption_per_second double precision,
    cross_rack_share double precision,
    commit_interval_seconds double precision,
    error text,
    CONSTRAINT backfilled_group_pkey PRIMARY KEY (backfill_id, group_id, taken_at),
    CONSTRAINT backfilled_group_backfill_fkey FOREIGN KEY (backfill_id) REFERENCES backfill ON DELETE CASCADE
);

-- rows come in order of time: the pages of a stretch of snapshots are found by what little this keeps of them
CREATE INDEX backfilled_group_taken_at ON backfilled_group USING brin (taken_at) WITH (
    pages_per_range = 16, autosummarize = on
);
CREATE INDEX backfilled_group_differs ON backfilled_group (backfill_id, group_id, taken_at) WHERE differs;

COMMENT ON TABLE backfilled_group IS
    'What past snapshots say of each group by the rules of a backfill, and what was said then. Advice is never rewritten.';
COMMENT ON COLUMN backfilled_group.backfill_id IS 'Which backfill it belongs to.';
COMMENT ON COLUMN backfilled_group.taken_at IS 'When the reading of its snapshot began.';
COMMENT ON COLUMN backfilled_group.group_id IS 'The consumer group.';
COMMENT ON COLUMN backfilled_group.covered_seconds IS
    'Seconds that the snapshot stands for: since the one before it, an hour at most; null: it is the first.';
COMMENT ON COLUMN backfilled_group.diagnosis IS
    'What is the matter with it by these rules; unknown where nobody can tell.';
COMMENT ON COLUMN backfilled_group.diagnosis_then IS 'What was said then to be the matter; null: it was not measured.';
COMMENT ON COLUMN backfilled_group.diagnosis_reason IS
    'The diagnosis with names and numbers; null where it keeps up, or was said to be so then.';
COMMENT ON COLUMN backfilled_group.is_judged IS
    'Whether its candidates could be weighed; null: none were made of this snapshot.';
COMMENT ON COLUMN backfilled_group.winner IS 'The strategy that wins by these rules; null: none does, or nobody asked.';
COMMENT ON COLUMN backfilled_group.was_judged IS
    'Whether it was told to switch or to stay then; null: it was told nothing, or nobody asked.';
COMMENT ON COLUMN backfilled_group.winner_then IS 'The strategy that won then; null: none did, or nobody asked.';
COMMENT ON COLUMN backfilled_group.differs IS
    'Whether diagnosis or winner is another than then, as far as both are known.';
COMMENT ON COLUMN backfilled_group.status IS
    'That of its worst partition, worsening in this order: OK, UNKNOWN, WARN, STALL, STOP, REWIND.';
COMMENT ON COLUMN backfilled_group.members IS 'Number of members.';
COMMENT ON COLUMN backfilled_group.partitions IS
    'Number of partitions inside the totals: subscribed ones, of an empty group the committed ones.';
COMMENT ON COLUMN backfilled_group.total_lag IS
    'Lag over all its partitions, in offsets; null when one is unknown, or none of its partitions is seen.';
COMMENT ON COLUMN backfilled_group.lag_skew IS
    'Largest member lag over mean member lag; null when the total is 0 or unknown.';
COMMENT ON COLUMN backfilled_group.delay_seconds IS
    'How far it is behind beyond its commit interval, by its worst partition.';
COMMENT ON COLUMN backfilled_group.time_lag_seconds IS 'Age in seconds of its oldest record not yet consumed.';
COMMENT ON COLUMN backfilled_group.production_per_second IS 'Offsets per second produced to its partitions.';
COMMENT ON COLUMN backfilled_group.consumption_per_second IS 'Offsets per second it commits.';
COMMENT ON COLUMN backfilled_group.cross_rack_share IS
    'Partitions whose owner''s rack holds no replica, over those where both are known; a fraction of 1.';
COMMENT ON COLUMN backfilled_group.commit_interval_seconds IS
    'Seconds from one of its commits to the next, learned or configured; null while none was seen.';
COMMENT ON COLUMN backfilled_group.error IS 'Why it could not be read, or was withheld; then no number is known.';

CREATE TABLE backfilled_candidate (
    backfill_id bigint NOT NULL,
    taken_at timestamptz NOT NULL,
    group_id text NOT NULL,
    strategy text NOT NULL,
    deployment text NOT NULL,
    feasibility text NOT NULL,
    moves integer,
    partition_spread integer,
    largest_member_lag bigint,
    lag_skew double precision,
    cross_rack_share double precision,
    cross_rack_cost_per_month double precision,
    currency text,
    forecast_lag_expected double precision,
    forecast_lag_integral_expected double precision,
    price_offset_seconds double precision,
    CONSTRAINT backfilled_candidate_pkey PRIMARY KEY (backfill_id, group_id, taken_at, strategy),
    CONSTRAINT backfilled_candidate_backfill_fkey FOREIGN KEY (backfill_id) REFERENCES backfill ON DELETE CASCADE
);

CREATE INDEX backfilled_candidate_taken_at ON backfilled_candidate USING brin (taken_at) WITH (
    pages_per_range = 16, autosummarize = on
);

COMMENT ON TABLE backfilled_candidate IS
    'What strategies would have given a group by the rules of a backfill, in one snapshot now and then.';
COMMENT ON COLUMN backfilled_candidate.backfill_id IS 'Which backfill it belongs to.';
COMMENT ON COLUMN backfilled_candidate.taken_at IS 'When the reading of its snapshot began.';
COMMENT ON COLUMN backfilled_candidate.group_id IS 'The consumer group.';
COMMENT ON COLUMN backfilled_candidate.strategy IS 'Our name of the strategy; "live" is what the group has now.';
COMMENT ON COLUMN backfilled_candidate.deployment IS
    'How a user gets it: setting, class, plan, yardstick, never advised, already there.';
COMMENT ON COLUMN backfilled_candidate.feasibility IS
    'Whether this group could run it: can run, could run, yardstick, infeasible.';
COMMENT ON COLUMN backfilled_candidate.moves IS 'Number of partitions whose owner changes.';
COMMENT ON COLUMN backfilled_candidate.partition_spread IS
    'Most minus fewest partitions among members of equal subscription.';
COMMENT ON COLUMN backfilled_candidate.largest_member_lag IS
    'Largest lag of a member, in offsets; null when a lag is unknown.';
COMMENT ON COLUMN backfilled_candidate.lag_skew IS
    'Largest member lag over mean member lag; null when the total is 0 or unknown.';
COMMENT ON COLUMN backfilled_candidate.cross_rack_share IS
    'Partitions whose owner''s rack holds no replica, over those where both are known; a fraction of 1.';
COMMENT ON COLUMN backfilled_candidate.cross_rack_cost_per_month IS
    'What that costs in 30 days at the configured price_per_gb; null without a price or when it is unknown.';
COMMENT ON COLUMN backfilled_candidate.currency IS 'Currency of the cost, ISO 4217; null without a price.';
COMMENT ON COLUMN backfilled_candidate.forecast_lag_expected IS
    'Forecast, expected (half lie below): lag an hour ahead, as a snapshot would show it.';
COMMENT ON COLUMN backfilled_candidate.forecast_lag_integral_expected IS
    'Forecast, expected (half lie below): offsets behind, summed over the seconds of the coming hour.';
COMMENT ON COLUMN backfilled_candidate.price_offset_seconds IS
    'What these add to the expected lag integral of the coming hour; null without a need.';
