-- The tables of the history, made from the records (`python -m tests.helpers.made_tables`). What
-- `evenkeel admin migrate` runs is in migrations/, functions are in functions.sql, views in views/. Needs
-- Postgres 15 or newer.
--
-- Unknown is null, never 0 or -1. Moments are timestamptz. Lag and lost records are in offsets, rates in offsets per
-- second, shares are fractions of 1; a double precision of Infinity means "never".
-- A row that belongs to a snapshot goes when the snapshot goes.


CREATE TABLE cluster (
    cluster TEXT NOT NULL,
    kafka_cluster_id TEXT,
    first_seen_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT cluster_pkey PRIMARY KEY (cluster)
);

COMMENT ON TABLE cluster IS 'A Kafka cluster that has a snapshot.';
COMMENT ON COLUMN cluster.cluster IS 'Configured name.';
COMMENT ON COLUMN cluster.kafka_cluster_id IS 'The id Kafka gave itself. Another one under the same name is an error.';
COMMENT ON COLUMN cluster.first_seen_at IS 'When the reading of its first snapshot began.';

CREATE TABLE snapshot (
    snapshot_id TEXT NOT NULL,
    cluster TEXT NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE NOT NULL,
    finished_at TIMESTAMP WITH TIME ZONE NOT NULL,
    first_read_at TIMESTAMP WITH TIME ZONE,
    last_read_at TIMESTAMP WITH TIME ZONE,
    partial BOOLEAN NOT NULL,
    problems TEXT[] DEFAULT '{}' NOT NULL,
    requests JSONB DEFAULT '{}' NOT NULL,
    bytes_sent BIGINT,
    bytes_received BIGINT,
    group_count INTEGER,
    unreadable_groups INTEGER,
    schema_version INTEGER NOT NULL,
    config_version TEXT,
    written_at TIMESTAMP WITH TIME ZONE NOT NULL,
    validated_at TIMESTAMP WITH TIME ZONE,
    rejected BOOLEAN,
    measured_at TIMESTAMP WITH TIME ZONE,
    proposed_at TIMESTAMP WITH TIME ZONE,
    advised_at TIMESTAMP WITH TIME ZONE,
    adopted_at TIMESTAMP WITH TIME ZONE,
    claimed_by TEXT,
    superseded_by TEXT,
    rolled_up_at TIMESTAMP WITH TIME ZONE,
    checks INTEGER,
    thinned_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT snapshot_pkey PRIMARY KEY (snapshot_id),
    CONSTRAINT snapshot_cluster_fkey FOREIGN KEY(cluster) REFERENCES cluster (cluster) ON DELETE CASCADE
);

CREATE INDEX snapshot_newest ON snapshot (cluster, started_at DESC, snapshot_id DESC);
CREATE INDEX snapshot_not_rolled_up ON snapshot (cluster, date_bin('01:00:00', started_at, '2000-01-01 00:00:00+00')) WHERE measured_at IS NOT NULL AND rolled_up_at IS NULL;
CREATE INDEX snapshot_started_at ON snapshot (started_at);
CREATE INDEX snapshot_thinned ON snapshot (cluster, thinned_at);

COMMENT ON TABLE snapshot IS 'A reading of a cluster, and how far it came: a step that is done leaves its moment.';
COMMENT ON COLUMN snapshot.snapshot_id IS '<cluster>-<UTC second>-<6 random>.';
COMMENT ON COLUMN snapshot.cluster IS 'Which cluster was read.';
COMMENT ON COLUMN snapshot.started_at IS 'When the reading began.';
COMMENT ON COLUMN snapshot.finished_at IS 'When the reading ended.';
COMMENT ON COLUMN snapshot.first_read_at IS 'When the first of its committed offsets was read (log starts before it); null before it is measured.';
COMMENT ON COLUMN snapshot.last_read_at IS 'When the last of its measured offsets was read; null before it is measured.';
COMMENT ON COLUMN snapshot.partial IS 'Whether something that belongs in it could not be read.';
COMMENT ON COLUMN snapshot.problems IS 'What could not be read, each with its cause.';
COMMENT ON COLUMN snapshot.requests IS 'Number of protocol requests by API name.';
COMMENT ON COLUMN snapshot.bytes_sent IS 'Bytes of the requests it took, without what TLS adds; null when not noted.';
COMMENT ON COLUMN snapshot.bytes_received IS 'Bytes of the responses, without what TLS adds; null when not noted.';
COMMENT ON COLUMN snapshot.group_count IS 'Number of groups in it.';
COMMENT ON COLUMN snapshot.unreadable_groups IS 'Number of its groups that could not be read, in whole or in part; null when that was not noted.';
COMMENT ON COLUMN snapshot.schema_version IS 'Version of its tables in the lake.';
COMMENT ON COLUMN snapshot.config_version IS 'Hash of the configuration it was taken with.';
COMMENT ON COLUMN snapshot.written_at IS 'When the lake had it, whole.';
COMMENT ON COLUMN snapshot.validated_at IS 'When its first validation was stored; null before.';
COMMENT ON COLUMN snapshot.rejected IS 'Whether a validation rejected it as a whole; null before the first one.';
COMMENT ON COLUMN snapshot.measured_at IS 'When its metrics were first stored; null before.';
COMMENT ON COLUMN snapshot.proposed_at IS 'When its candidates were first stored; null before.';
COMMENT ON COLUMN snapshot.advised_at IS 'When its advice was stored, also if there was no group to advise; null before.';
COMMENT ON COLUMN snapshot.adopted_at IS 'When a run began to work on its advice; null before.';
COMMENT ON COLUMN snapshot.claimed_by IS 'Id of that run; null before, and where no schedule runs the steps.';
COMMENT ON COLUMN snapshot.superseded_by IS 'The newer snapshot of its cluster that was advised on in its place; it has metrics, no advice of its own. Null: none was.';
COMMENT ON COLUMN snapshot.rolled_up_at IS 'When it was last counted in its hour; null: not yet, or something of it was stored since.';
COMMENT ON COLUMN snapshot.checks IS 'Number of expectations that were checked; null when none was, or not counted.';
COMMENT ON COLUMN snapshot.thinned_at IS 'When its metrics, candidates and repeated advice were forgotten here; null: what it got is here.';

CREATE TABLE validation (
    validation_id BIGINT GENERATED ALWAYS AS IDENTITY,
    snapshot_id TEXT NOT NULL,
    cluster TEXT NOT NULL,
    stage TEXT NOT NULL,
    group_id TEXT,
    expectation TEXT NOT NULL,
    severity TEXT NOT NULL,
    success BOOLEAN NOT NULL,
    unexpected_count BIGINT,
    checked_count BIGINT,
    reason TEXT,
    CONSTRAINT validation_pkey PRIMARY KEY (validation_id),
    CONSTRAINT validation_snapshot_fkey FOREIGN KEY(snapshot_id) REFERENCES snapshot (snapshot_id) ON DELETE CASCADE,
    CONSTRAINT validation_stage_check CHECK (stage IN ('snapshot', 'metrics', 'candidates'))
);

CREATE INDEX validation_failed ON validation (snapshot_id, group_id) WHERE NOT success AND severity = 'critical';
CREATE INDEX validation_snapshot ON validation (snapshot_id, stage, group_id);

COMMENT ON TABLE validation IS 'What was expected of a snapshot, or of what was made of it, and whether it held. A failed critical row withholds its group.';
COMMENT ON COLUMN validation.validation_id IS 'Number of the row, without meaning.';
COMMENT ON COLUMN validation.snapshot_id IS 'Which snapshot it belongs to.';
COMMENT ON COLUMN validation.cluster IS 'The cluster of that snapshot.';
COMMENT ON COLUMN validation.stage IS '"snapshot": what was read; "metrics": what was measured; "candidates": what was proposed.';
COMMENT ON COLUMN validation.group_id IS 'Which group was checked; null for the snapshot as a whole.';
COMMENT ON COLUMN validation.expectation IS 'What was expected.';
COMMENT ON COLUMN validation.severity IS '"critical" withholds the group, or rejects the snapshot where there is none.';
COMMENT ON COLUMN validation.success IS 'Whether it held.';
COMMENT ON COLUMN validation.unexpected_count IS 'Number of rows that broke it.';
COMMENT ON COLUMN validation.checked_count IS 'Number of rows that were looked at.';
COMMENT ON COLUMN validation.reason IS 'What is wrong, for people.';

CREATE TABLE group_metrics (
    snapshot_id TEXT NOT NULL,
    cluster TEXT NOT NULL,
    group_id TEXT NOT NULL,
    config_version TEXT NOT NULL,
    group_type TEXT NOT NULL,
    state TEXT NOT NULL,
    assignor TEXT,
    status TEXT NOT NULL,
    members INTEGER,
    idle_members INTEGER,
    partitions INTEGER,
    unowned_partitions INTEGER,
    unsubscribed_partitions INTEGER,
    total_lag BIGINT,
    unknown_lag_partitions INTEGER,
    largest_partition_lag BIGINT,
    lost_records BIGINT,
    production_per_second DOUBLE PRECISION,
    consumption_per_second DOUBLE PRECISION,
    time_lag_seconds DOUBLE PRECISION,
    time_to_loss_seconds DOUBLE PRECISION,
    rates_since TIMESTAMP WITH TIME ZONE,
    subscribed_topics TEXT[],
    error TEXT,
    findings TEXT[] NOT NULL,
    facts JSONB,
    diagnosis TEXT,
    diagnosis_reason TEXT,
    commit_interval_seconds DOUBLE PRECISION,
    delay_seconds DOUBLE PRECISION,
    commit_ages_seconds DOUBLE PRECISION[],
    assignment TEXT,
    partition_spread INTEGER,
    balanced BOOLEAN,
    most_partitions INTEGER,
    fewest_partitions INTEGER,
    largest_member_lag BIGINT,
    lag_skew DOUBLE PRECISION,
    lag_lower_bound BIGINT,
    lag_lower_bound_equal_counts BIGINT,
    cross_rack_share DOUBLE PRECISION,
    cross_rack_rate_share DOUBLE PRECISION,
    cross_rack_in_sync_share DOUBLE PRECISION,
    cross_leader_share DOUBLE PRECISION,
    racks_left_out INTEGER,
    drain_seconds DOUBLE PRECISION,
    cross_rack_bytes_per_second DOUBLE PRECISION,
    cross_rack_cost_per_month DOUBLE PRECISION,
    currency TEXT,
    stores_in_one_rack INTEGER,
    stores_judged INTEGER,
    members_joined INTEGER,
    members_left INTEGER,
    members_restarted INTEGER,
    partitions_moved INTEGER,
    would_have_moved JSONB,
    CONSTRAINT group_metrics_pkey PRIMARY KEY (snapshot_id, group_id),
    CONSTRAINT group_metrics_snapshot_fkey FOREIGN KEY(snapshot_id) REFERENCES snapshot (snapshot_id) ON DELETE CASCADE
);

COMMENT ON TABLE group_metrics IS 'How a group fared in a snapshot; every number is unknown where its error says why.';
COMMENT ON COLUMN group_metrics.snapshot_id IS 'Which snapshot it belongs to.';
COMMENT ON COLUMN group_metrics.cluster IS 'The cluster of that snapshot.';
COMMENT ON COLUMN group_metrics.group_id IS 'The consumer group.';
COMMENT ON COLUMN group_metrics.config_version IS 'Hash of the configuration it was computed with.';
COMMENT ON COLUMN group_metrics.group_type IS 'Type of the group: classic, consumer (KIP-848), streams (KIP-1071), share or unknown.';
COMMENT ON COLUMN group_metrics.state IS 'State of the group, as the broker names it.';
COMMENT ON COLUMN group_metrics.assignor IS 'Elected protocol or server-side assignor, as named on the wire.';
COMMENT ON COLUMN group_metrics.status IS 'That of its worst partition, worsening in this order: OK, UNKNOWN, WARN, STALL, STOP, REWIND.';
COMMENT ON COLUMN group_metrics.members IS 'Number of members.';
COMMENT ON COLUMN group_metrics.idle_members IS 'Number of members without a partition.';
COMMENT ON COLUMN group_metrics.partitions IS 'Number of partitions inside the totals: subscribed ones, of an empty group the committed ones.';
COMMENT ON COLUMN group_metrics.unowned_partitions IS 'Number of those that nobody owns.';
COMMENT ON COLUMN group_metrics.unsubscribed_partitions IS 'Number of partitions of topics nobody subscribes to any more.';
COMMENT ON COLUMN group_metrics.total_lag IS 'Lag over all its partitions, in offsets; null when one is unknown, or none of its partitions is seen.';
COMMENT ON COLUMN group_metrics.unknown_lag_partitions IS 'Number of partitions whose lag is unknown.';
COMMENT ON COLUMN group_metrics.largest_partition_lag IS 'Largest known lag of a partition, in offsets.';
COMMENT ON COLUMN group_metrics.lost_records IS 'Offsets that retention removed before they were consumed, as far as known.';
COMMENT ON COLUMN group_metrics.production_per_second IS 'Offsets per second produced to its partitions.';
COMMENT ON COLUMN group_metrics.consumption_per_second IS 'Offsets per second it commits.';
COMMENT ON COLUMN group_metrics.time_lag_seconds IS 'Age in seconds of its oldest record not yet consumed.';
COMMENT ON COLUMN group_metrics.time_to_loss_seconds IS 'Seconds until retention reaches a committed offset.';
COMMENT ON COLUMN group_metrics.rates_since IS 'Since when the rates are measured.';
COMMENT ON COLUMN group_metrics.subscribed_topics IS 'Topics its members subscribe to; of a rebalancing group those last known; null when none is known.';
COMMENT ON COLUMN group_metrics.error IS 'Why it could not be read, or was withheld; then no number is known.';
COMMENT ON COLUMN group_metrics.findings IS 'What is remarkable about it.';
COMMENT ON COLUMN group_metrics.facts IS 'The findings as values, to ask with @> by measure: a list of {kind, measure, before, after, bound, ...}.';
COMMENT ON COLUMN group_metrics.diagnosis IS 'Its diagnosis: healthy, catching up, skewed load, slow member, no members, ... or unknown.';
COMMENT ON COLUMN group_metrics.diagnosis_reason IS 'The same with names and numbers; null where it is healthy.';
COMMENT ON COLUMN group_metrics.commit_interval_seconds IS 'Seconds from one of its commits to the next, learned or configured; null while none was seen.';
COMMENT ON COLUMN group_metrics.delay_seconds IS 'How far it is behind beyond its commit interval, by its worst partition.';
COMMENT ON COLUMN group_metrics.commit_ages_seconds IS 'Seconds of arrivals that its commits were behind at each sample it kept up, for its forecast.';
COMMENT ON COLUMN group_metrics.assignment IS 'Fingerprint of who owns what, by the identities of members; null while that is in motion.';
COMMENT ON COLUMN group_metrics.partition_spread IS 'Most minus fewest partitions among members of equal subscription.';
COMMENT ON COLUMN group_metrics.balanced IS 'KIP-54: nobody with two partitions fewer could take one of somebody else''s.';
COMMENT ON COLUMN group_metrics.most_partitions IS 'Number of partitions of the member that has most.';
COMMENT ON COLUMN group_metrics.fewest_partitions IS 'Number of partitions of the member that has fewest.';
COMMENT ON COLUMN group_metrics.largest_member_lag IS 'Largest lag of a member, in offsets; null when a lag is unknown.';
COMMENT ON COLUMN group_metrics.lag_skew IS 'Largest member lag over mean member lag; null when the total is 0 or unknown.';
COMMENT ON COLUMN group_metrics.lag_lower_bound IS 'No assignment has a smaller largest member lag than this, in offsets.';
COMMENT ON COLUMN group_metrics.lag_lower_bound_equal_counts IS 'No assignment with equal partition counts has a smaller largest member lag than this, in offsets.';
COMMENT ON COLUMN group_metrics.cross_rack_share IS 'Partitions whose owner''s rack holds no replica, over those where both are known; a fraction of 1.';
COMMENT ON COLUMN group_metrics.cross_rack_rate_share IS 'Cross-rack share weighted by offsets per second; null when a rate is unknown or all are 0.';
COMMENT ON COLUMN group_metrics.cross_rack_in_sync_share IS 'Cross-rack share over in-sync replicas only.';
COMMENT ON COLUMN group_metrics.cross_leader_share IS 'Cross-rack share against the leader''s rack alone; a fraction of 1.';
COMMENT ON COLUMN group_metrics.racks_left_out IS 'Number of owned partitions left out of the shares because a rack is unknown.';
COMMENT ON COLUMN group_metrics.drain_seconds IS 'Seconds until the slowest member has caught up; Infinity: never.';
COMMENT ON COLUMN group_metrics.cross_rack_bytes_per_second IS 'Bytes per second across racks once it keeps up; null when a rate, a size or who serves reads is unknown.';
COMMENT ON COLUMN group_metrics.cross_rack_cost_per_month IS 'What that costs in 30 days at the configured price_per_gb; null without a price or when it is unknown.';
COMMENT ON COLUMN group_metrics.currency IS 'Currency of the cost, ISO 4217; null without a price.';
COMMENT ON COLUMN group_metrics.stores_in_one_rack IS 'Number of Kafka Streams stores all copies of which stand in one rack; null where none is judged.';
COMMENT ON COLUMN group_metrics.stores_judged IS 'Number of stores with several copies, all in racks that are known; null where no copies are kept.';
COMMENT ON COLUMN group_metrics.members_joined IS 'Members that came since the snapshot before in which it was at rest; null without such a one.';
COMMENT ON COLUMN group_metrics.members_left IS 'Members that went since then.';
COMMENT ON COLUMN group_metrics.members_restarted IS 'Members that came back under another id since then.';
COMMENT ON COLUMN group_metrics.partitions_moved IS 'Partitions that went from one member to another by that; 0 where its members are the same.';
COMMENT ON COLUMN group_metrics.would_have_moved IS 'What strategies that a setting brings, in force before, would have moved instead: {strategy, moves}.';

CREATE TABLE member_metrics (
    snapshot_id TEXT NOT NULL,
    cluster TEXT NOT NULL,
    group_id TEXT NOT NULL,
    config_version TEXT NOT NULL,
    member_id TEXT NOT NULL,
    identity TEXT NOT NULL,
    client_id TEXT NOT NULL,
    client_host TEXT NOT NULL,
    instance_id TEXT,
    rack TEXT,
    rack_source TEXT,
    partitions INTEGER NOT NULL,
    lag BIGINT,
    production_per_second DOUBLE PRECISION,
    consumption_per_second DOUBLE PRECISION,
    capacity_per_second DOUBLE PRECISION,
    capacity_basis TEXT,
    utilisation DOUBLE PRECISION,
    silent BOOLEAN,
    cross_rack_partitions INTEGER,
    CONSTRAINT member_metrics_pkey PRIMARY KEY (snapshot_id, group_id, member_id),
    CONSTRAINT member_metrics_snapshot_fkey FOREIGN KEY(snapshot_id) REFERENCES snapshot (snapshot_id) ON DELETE CASCADE
);

COMMENT ON TABLE member_metrics IS 'How a member of a group fared in a snapshot.';
COMMENT ON COLUMN member_metrics.snapshot_id IS 'Which snapshot it belongs to.';
COMMENT ON COLUMN member_metrics.cluster IS 'The cluster of that snapshot.';
COMMENT ON COLUMN member_metrics.group_id IS 'The consumer group.';
COMMENT ON COLUMN member_metrics.config_version IS 'Hash of the configuration it was computed with.';
COMMENT ON COLUMN member_metrics.member_id IS 'Id the coordinator gave it; it changes when the member restarts.';
COMMENT ON COLUMN member_metrics.identity IS 'What stays the same over restarts: the instance id, else client id and host.';
COMMENT ON COLUMN member_metrics.client_id IS 'Its client.id.';
COMMENT ON COLUMN member_metrics.client_host IS 'The host it connects from, as the broker sees it.';
COMMENT ON COLUMN member_metrics.instance_id IS 'Its group.instance.id; null for a dynamic member.';
COMMENT ON COLUMN member_metrics.rack IS 'Its rack; null when unknown.';
COMMENT ON COLUMN member_metrics.rack_source IS 'Where the rack is known from: subscription, describe or configured.';
COMMENT ON COLUMN member_metrics.partitions IS 'Number of partitions it owns.';
COMMENT ON COLUMN member_metrics.lag IS 'Sum of their lag, in offsets; null when one is unknown.';
COMMENT ON COLUMN member_metrics.production_per_second IS 'Offsets per second produced to its partitions.';
COMMENT ON COLUMN member_metrics.consumption_per_second IS 'Offsets per second it commits.';
COMMENT ON COLUMN member_metrics.capacity_per_second IS 'Offsets per second it could consume.';
COMMENT ON COLUMN member_metrics.capacity_basis IS 'How that is known: configured, saturated, at least, as its peers, unknown.';
COMMENT ON COLUMN member_metrics.utilisation IS 'What arrives at it over what it can consume: above 1 it falls behind; null when either is unknown.';
COMMENT ON COLUMN member_metrics.silent IS 'Whether nothing it owns is committed any more though some of it is behind; null before there was this.';
COMMENT ON COLUMN member_metrics.cross_rack_partitions IS 'Number of its partitions that have no replica in its rack.';

CREATE TABLE partition_latest (
    snapshot_id TEXT NOT NULL,
    cluster TEXT NOT NULL,
    group_id TEXT NOT NULL,
    config_version TEXT NOT NULL,
    topic TEXT NOT NULL,
    topic_id TEXT,
    partition INTEGER NOT NULL,
    subscribed BOOLEAN,
    begin_offset BIGINT,
    end_offset BIGINT,
    committed_offset BIGINT,
    lag BIGINT,
    lag_basis TEXT NOT NULL,
    lost_records BIGINT,
    production_per_second DOUBLE PRECISION,
    consumption_per_second DOUBLE PRECISION,
    time_lag_seconds DOUBLE PRECISION,
    time_lag_basis TEXT NOT NULL,
    time_to_loss_seconds DOUBLE PRECISION,
    status TEXT NOT NULL,
    member_id TEXT,
    cross_rack BOOLEAN,
    committed_at TIMESTAMP WITH TIME ZONE,
    end_at TIMESTAMP WITH TIME ZONE,
    counted BOOLEAN,
    lag_for_strategies BIGINT,
    production_deviation_per_second DOUBLE PRECISION,
    consumption_deviation_per_second DOUBLE PRECISION,
    bytes_per_record DOUBLE PRECISION,
    bytes_per_record_basis TEXT,
    CONSTRAINT partition_latest_pkey PRIMARY KEY (snapshot_id, group_id, topic, partition),
    CONSTRAINT partition_latest_snapshot_fkey FOREIGN KEY(snapshot_id) REFERENCES snapshot (snapshot_id) ON DELETE CASCADE
);

COMMENT ON TABLE partition_latest IS 'A partition of a group in the newest measured snapshot of its cluster; earlier ones are in the lake.';
COMMENT ON COLUMN partition_latest.snapshot_id IS 'Which snapshot it belongs to.';
COMMENT ON COLUMN partition_latest.cluster IS 'The cluster of that snapshot.';
COMMENT ON COLUMN partition_latest.group_id IS 'The consumer group.';
COMMENT ON COLUMN partition_latest.config_version IS 'Hash of the configuration it was computed with.';
COMMENT ON COLUMN partition_latest.topic IS 'The topic.';
COMMENT ON COLUMN partition_latest.topic_id IS 'Id of the topic: a topic made again under the same name has another.';
COMMENT ON COLUMN partition_latest.partition IS 'Number of the partition in its topic.';
COMMENT ON COLUMN partition_latest.subscribed IS 'Whether a member subscribes to the topic; null while members do not tell, as they rebalance.';
COMMENT ON COLUMN partition_latest.begin_offset IS 'Log start offset.';
COMMENT ON COLUMN partition_latest.end_offset IS 'High watermark; last stable offset for a group that reads committed records.';
COMMENT ON COLUMN partition_latest.committed_offset IS 'Committed offset; null when there is none.';
COMMENT ON COLUMN partition_latest.lag IS 'Offsets between what is committed and the end; null when unknown.';
COMMENT ON COLUMN partition_latest.lag_basis IS 'Which case of the definition of lag it was.';
COMMENT ON COLUMN partition_latest.lost_records IS 'Offsets that retention removed before they were consumed.';
COMMENT ON COLUMN partition_latest.production_per_second IS 'Offsets per second produced to it.';
COMMENT ON COLUMN partition_latest.consumption_per_second IS 'Offsets per second the group commits in it.';
COMMENT ON COLUMN partition_latest.time_lag_seconds IS 'Age in seconds of the record at the committed offset.';
COMMENT ON COLUMN partition_latest.time_lag_basis IS 'How that age is known.';
COMMENT ON COLUMN partition_latest.time_to_loss_seconds IS 'Seconds until the log start reaches the committed offset.';
COMMENT ON COLUMN partition_latest.status IS 'OK, UNKNOWN, WARN, STALL, STOP or REWIND, worsening in this order.';
COMMENT ON COLUMN partition_latest.member_id IS 'Its owner; null when nobody owns it.';
COMMENT ON COLUMN partition_latest.cross_rack IS 'Whether no replica is in the owner''s rack; null when a rack is unknown.';
COMMENT ON COLUMN partition_latest.committed_at IS 'When the committed offset was read.';
COMMENT ON COLUMN partition_latest.end_at IS 'When the end offset was read.';
COMMENT ON COLUMN partition_latest.counted IS 'Whether it is inside the totals of the group.';
COMMENT ON COLUMN partition_latest.lag_for_strategies IS 'Lag as strategies are given it: without a commit that of the configured reset, else 0 (KIP-169).';
COMMENT ON COLUMN partition_latest.production_deviation_per_second IS 'Standard deviation of what was produced per second between snapshots; null below two such spans.';
COMMENT ON COLUMN partition_latest.consumption_deviation_per_second IS 'Standard deviation of what the group committed per second between snapshots; null below two such spans.';
COMMENT ON COLUMN partition_latest.bytes_per_record IS 'Average bytes of a record as stored and sent, compressed; null when unknown.';
COMMENT ON COLUMN partition_latest.bytes_per_record_basis IS 'How that is known: log directory, other partitions of the topic, configured, unknown.';

CREATE TABLE partition_worst (
    snapshot_id TEXT NOT NULL,
    cluster TEXT NOT NULL,
    group_id TEXT NOT NULL,
    config_version TEXT NOT NULL,
    topic TEXT NOT NULL,
    topic_id TEXT,
    partition INTEGER NOT NULL,
    subscribed BOOLEAN,
    begin_offset BIGINT,
    end_offset BIGINT,
    committed_offset BIGINT,
    lag BIGINT,
    lag_basis TEXT NOT NULL,
    lost_records BIGINT,
    production_per_second DOUBLE PRECISION,
    consumption_per_second DOUBLE PRECISION,
    time_lag_seconds DOUBLE PRECISION,
    time_lag_basis TEXT NOT NULL,
    time_to_loss_seconds DOUBLE PRECISION,
    status TEXT NOT NULL,
    member_id TEXT,
    cross_rack BOOLEAN,
    committed_at TIMESTAMP WITH TIME ZONE,
    end_at TIMESTAMP WITH TIME ZONE,
    counted BOOLEAN,
    lag_for_strategies BIGINT,
    production_deviation_per_second DOUBLE PRECISION,
    consumption_deviation_per_second DOUBLE PRECISION,
    bytes_per_record DOUBLE PRECISION,
    bytes_per_record_basis TEXT,
    place INTEGER NOT NULL,
    CONSTRAINT partition_worst_pkey PRIMARY KEY (snapshot_id, group_id, topic, partition),
    CONSTRAINT partition_worst_snapshot_fkey FOREIGN KEY(snapshot_id) REFERENCES snapshot (snapshot_id) ON DELETE CASCADE
);

COMMENT ON TABLE partition_worst IS 'One of the 20 partitions of a group with the largest lag, of every snapshot.';
COMMENT ON COLUMN partition_worst.snapshot_id IS 'Which snapshot it belongs to.';
COMMENT ON COLUMN partition_worst.cluster IS 'The cluster of that snapshot.';
COMMENT ON COLUMN partition_worst.group_id IS 'The consumer group.';
COMMENT ON COLUMN partition_worst.config_version IS 'Hash of the configuration it was computed with.';
COMMENT ON COLUMN partition_worst.topic IS 'The topic.';
COMMENT ON COLUMN partition_worst.topic_id IS 'Id of the topic: a topic made again under the same name has another.';
COMMENT ON COLUMN partition_worst.partition IS 'Number of the partition in its topic.';
COMMENT ON COLUMN partition_worst.subscribed IS 'Whether a member subscribes to the topic; null while members do not tell, as they rebalance.';
COMMENT ON COLUMN partition_worst.begin_offset IS 'Log start offset.';
COMMENT ON COLUMN partition_worst.end_offset IS 'High watermark; last stable offset for a group that reads committed records.';
COMMENT ON COLUMN partition_worst.committed_offset IS 'Committed offset; null when there is none.';
COMMENT ON COLUMN partition_worst.lag IS 'Offsets between what is committed and the end; null when unknown.';
COMMENT ON COLUMN partition_worst.lag_basis IS 'Which case of the definition of lag it was.';
COMMENT ON COLUMN partition_worst.lost_records IS 'Offsets that retention removed before they were consumed.';
COMMENT ON COLUMN partition_worst.production_per_second IS 'Offsets per second produced to it.';
COMMENT ON COLUMN partition_worst.consumption_per_second IS 'Offsets per second the group commits in it.';
COMMENT ON COLUMN partition_worst.time_lag_seconds IS 'Age in seconds of the record at the committed offset.';
COMMENT ON COLUMN partition_worst.time_lag_basis IS 'How that age is known.';
COMMENT ON COLUMN partition_worst.time_to_loss_seconds IS 'Seconds until the log start reaches the committed offset.';
COMMENT ON COLUMN partition_worst.status IS 'OK, UNKNOWN, WARN, STALL, STOP or REWIND, worsening in this order.';
COMMENT ON COLUMN partition_worst.member_id IS 'Its owner; null when nobody owns it.';
COMMENT ON COLUMN partition_worst.cross_rack IS 'Whether no replica is in the owner''s rack; null when a rack is unknown.';
COMMENT ON COLUMN partition_worst.committed_at IS 'When the committed offset was read.';
COMMENT ON COLUMN partition_worst.end_at IS 'When the end offset was read.';
COMMENT ON COLUMN partition_worst.counted IS 'Whether it is inside the totals of the group.';
COMMENT ON COLUMN partition_worst.lag_for_strategies IS 'Lag as strategies are given it: without a commit that of the configured reset, else 0 (KIP-169).';
COMMENT ON COLUMN partition_worst.production_deviation_per_second IS 'Standard deviation of what was produced per second between snapshots; null below two such spans.';
COMMENT ON COLUMN partition_worst.consumption_deviation_per_second IS 'Standard deviation of what the group committed per second between snapshots; null below two such spans.';
COMMENT ON COLUMN partition_worst.bytes_per_record IS 'Average bytes of a record as stored and sent, compressed; null when unknown.';
COMMENT ON COLUMN partition_worst.bytes_per_record_basis IS 'How that is known: log directory, other partitions of the topic, configured, unknown.';
COMMENT ON COLUMN partition_worst.place IS 'Place of its lag in the group, from 1 for the largest to 20; unknown lag comes last.';

CREATE TABLE candidate (
    snapshot_id TEXT NOT NULL,
    cluster TEXT NOT NULL,
    group_id TEXT NOT NULL,
    config_version TEXT NOT NULL,
    strategy TEXT NOT NULL,
    position INTEGER NOT NULL,
    deployment TEXT NOT NULL,
    feasibility TEXT NOT NULL,
    reason TEXT NOT NULL,
    is_running BOOLEAN,
    how TEXT,
    replay TEXT,
    partition_spread INTEGER,
    balanced BOOLEAN,
    most_partitions INTEGER,
    fewest_partitions INTEGER,
    largest_member_lag BIGINT,
    lag_skew DOUBLE PRECISION,
    lag_lower_bound BIGINT,
    lag_lower_bound_equal_counts BIGINT,
    cross_rack_share DOUBLE PRECISION,
    cross_rack_rate_share DOUBLE PRECISION,
    cross_rack_in_sync_share DOUBLE PRECISION,
    cross_leader_share DOUBLE PRECISION,
    racks_left_out INTEGER,
    drain_seconds DOUBLE PRECISION,
    cross_rack_bytes_per_second DOUBLE PRECISION,
    cross_rack_cost_per_month DOUBLE PRECISION,
    currency TEXT,
    stores_in_one_rack INTEGER,
    stores_judged INTEGER,
    moves INTEGER,
    newly_owned INTEGER,
    unowned INTEGER,
    findings TEXT[] DEFAULT '{}' NOT NULL,
    notes TEXT[],
    proof TEXT,
    facts JSONB,
    leave_moves_mean DOUBLE PRECISION,
    leave_moves_of_others_mean DOUBLE PRECISION,
    leave_moves_worst INTEGER,
    join_moves INTEGER,
    restart_moves BIGINT,
    members_tried INTEGER,
    forecast_soon_lag_low DOUBLE PRECISION,
    forecast_soon_lag_expected DOUBLE PRECISION,
    forecast_soon_lag_high DOUBLE PRECISION,
    forecast_lag_low DOUBLE PRECISION,
    forecast_lag_expected DOUBLE PRECISION,
    forecast_lag_high DOUBLE PRECISION,
    forecast_delay_seconds_low DOUBLE PRECISION,
    forecast_delay_seconds_expected DOUBLE PRECISION,
    forecast_delay_seconds_high DOUBLE PRECISION,
    forecast_drained_seconds_low DOUBLE PRECISION,
    forecast_drained_seconds_expected DOUBLE PRECISION,
    forecast_drained_seconds_high DOUBLE PRECISION,
    forecast_utilisation_low DOUBLE PRECISION,
    forecast_utilisation_expected DOUBLE PRECISION,
    forecast_utilisation_high DOUBLE PRECISION,
    forecast_lag_integral_low DOUBLE PRECISION,
    forecast_lag_integral_expected DOUBLE PRECISION,
    forecast_lag_integral_high DOUBLE PRECISION,
    price_restarts INTEGER,
    price_held_up_offsets DOUBLE PRECISION,
    price_offset_seconds DOUBLE PRECISION,
    CONSTRAINT candidate_pkey PRIMARY KEY (snapshot_id, group_id, strategy),
    CONSTRAINT candidate_snapshot_fkey FOREIGN KEY(snapshot_id) REFERENCES snapshot (snapshot_id) ON DELETE CASCADE
);

COMMENT ON TABLE candidate IS 'What a strategy would give a group, scored by one judge; or why it cannot. Only what passed validation.';
COMMENT ON COLUMN candidate.snapshot_id IS 'Which snapshot it belongs to.';
COMMENT ON COLUMN candidate.cluster IS 'The cluster of that snapshot.';
COMMENT ON COLUMN candidate.group_id IS 'The consumer group.';
COMMENT ON COLUMN candidate.config_version IS 'Hash of the configuration it was computed with.';
COMMENT ON COLUMN candidate.strategy IS 'Our name of the strategy; "live" is what the group has now.';
COMMENT ON COLUMN candidate.position IS 'Place of the strategy in the table of strategies, from 0.';
COMMENT ON COLUMN candidate.deployment IS 'How a user gets it: setting, class, plan, baseline, never advised, already there.';
COMMENT ON COLUMN candidate.feasibility IS 'Whether this group could run it: available, needs restart, not deployable here, not applicable.';
COMMENT ON COLUMN candidate.reason IS 'Why it can or cannot run.';
COMMENT ON COLUMN candidate.is_running IS 'Whether the group runs it, as far as can be seen (Streams: it gives what the group has); null: unknown.';
COMMENT ON COLUMN candidate.how IS 'What to do to get it on this group.';
COMMENT ON COLUMN candidate.replay IS 'Begins "next rebalance" if members report what they own now, else "fresh assignment"; null without score.';
COMMENT ON COLUMN candidate.partition_spread IS 'Most minus fewest partitions among members of equal subscription.';
COMMENT ON COLUMN candidate.balanced IS 'KIP-54: nobody with two partitions fewer could take one of somebody else''s.';
COMMENT ON COLUMN candidate.most_partitions IS 'Number of partitions of the member that has most.';
COMMENT ON COLUMN candidate.fewest_partitions IS 'Number of partitions of the member that has fewest.';
COMMENT ON COLUMN candidate.largest_member_lag IS 'Largest lag of a member, in offsets; null when a lag is unknown.';
COMMENT ON COLUMN candidate.lag_skew IS 'Largest member lag over mean member lag; null when the total is 0 or unknown.';
COMMENT ON COLUMN candidate.lag_lower_bound IS 'No assignment has a smaller largest member lag than this, in offsets.';
COMMENT ON COLUMN candidate.lag_lower_bound_equal_counts IS 'No assignment with equal partition counts has a smaller largest member lag than this, in offsets.';
COMMENT ON COLUMN candidate.cross_rack_share IS 'Partitions whose owner''s rack holds no replica, over those where both are known; a fraction of 1.';
COMMENT ON COLUMN candidate.cross_rack_rate_share IS 'Cross-rack share weighted by offsets per second; null when a rate is unknown or all are 0.';
COMMENT ON COLUMN candidate.cross_rack_in_sync_share IS 'Cross-rack share over in-sync replicas only.';
COMMENT ON COLUMN candidate.cross_leader_share IS 'Cross-rack share against the leader''s rack alone; a fraction of 1.';
COMMENT ON COLUMN candidate.racks_left_out IS 'Number of owned partitions left out of the shares because a rack is unknown.';
COMMENT ON COLUMN candidate.drain_seconds IS 'Seconds until the slowest member has caught up; Infinity: never.';
COMMENT ON COLUMN candidate.cross_rack_bytes_per_second IS 'Bytes per second across racks once it keeps up; null when a rate, a size or who serves reads is unknown.';
COMMENT ON COLUMN candidate.cross_rack_cost_per_month IS 'What that costs in 30 days at the configured price_per_gb; null without a price or when it is unknown.';
COMMENT ON COLUMN candidate.currency IS 'Currency of the cost, ISO 4217; null without a price.';
COMMENT ON COLUMN candidate.stores_in_one_rack IS 'Number of Kafka Streams stores all copies of which stand in one rack; null where none is judged.';
COMMENT ON COLUMN candidate.stores_judged IS 'Number of stores with several copies, all in racks that are known; null where no copies are kept.';
COMMENT ON COLUMN candidate.moves IS 'Number of partitions whose owner changes.';
COMMENT ON COLUMN candidate.newly_owned IS 'Number of unowned partitions that get an owner.';
COMMENT ON COLUMN candidate.unowned IS 'Number of partitions that nobody owns; null when there is no assignment to score.';
COMMENT ON COLUMN candidate.findings IS 'What is wrong with the assignment, if anything; of the live one, what is found about its racks.';
COMMENT ON COLUMN candidate.notes IS 'What else is to be said of it: what was taken for what is not known, where tags and racks disagree.';
COMMENT ON COLUMN candidate.proof IS 'What is proven of it: "exact", or how far from its floor it is at most; null when nothing is claimed.';
COMMENT ON COLUMN candidate.facts IS 'Reason, how, findings, notes, proof and replay as values, to ask with @>: a list of {kind, measure, ...}.';
COMMENT ON COLUMN candidate.leave_moves_mean IS 'Partitions that change owner when one member leaves, its own included: mean over the members tried.';
COMMENT ON COLUMN candidate.leave_moves_of_others_mean IS 'Of those, partitions that another member owned: mean. 0: what the leaving one had is all that moves.';
COMMENT ON COLUMN candidate.leave_moves_worst IS 'Partitions that change owner when the member tried leaves that moves most by it.';
COMMENT ON COLUMN candidate.join_moves IS 'Partitions that change owner when a member joins that is like the first of those tried.';
COMMENT ON COLUMN candidate.restart_moves IS 'Partitions that change owner in all while one after another restarts; scaled up from those tried.';
COMMENT ON COLUMN candidate.members_tried IS 'How many of its members were let leave: three at most, fewer where there are many partitions.';
COMMENT ON COLUMN candidate.forecast_soon_lag_low IS 'Forecast, low (one case in ten lies below): lag 15 minutes ahead, as a snapshot would show it.';
COMMENT ON COLUMN candidate.forecast_soon_lag_expected IS 'Forecast, expected (half lie below): lag 15 minutes ahead, as a snapshot would show it.';
COMMENT ON COLUMN candidate.forecast_soon_lag_high IS 'Forecast, high (one in ten above): lag 15 minutes ahead, as a snapshot would show it.';
COMMENT ON COLUMN candidate.forecast_lag_low IS 'Forecast, low (one case in ten lies below): lag an hour ahead, as a snapshot would show it.';
COMMENT ON COLUMN candidate.forecast_lag_expected IS 'Forecast, expected (half lie below): lag an hour ahead, as a snapshot would show it.';
COMMENT ON COLUMN candidate.forecast_lag_high IS 'Forecast, high (one in ten above): lag an hour ahead, as a snapshot would show it.';
COMMENT ON COLUMN candidate.forecast_delay_seconds_low IS 'Forecast, low (one case in ten lies below): how far behind the last member is an hour ahead, beyond its commits.';
COMMENT ON COLUMN candidate.forecast_delay_seconds_expected IS 'Forecast, expected (half lie below): how far behind the last member is an hour ahead, beyond its commits.';
COMMENT ON COLUMN candidate.forecast_delay_seconds_high IS 'Forecast, high (one in ten above): how far behind the last member is an hour ahead, beyond its commits.';
COMMENT ON COLUMN candidate.forecast_drained_seconds_low IS 'Forecast, low (one case in ten lies below): time until nobody has a backlog; Infinity: not within the hour.';
COMMENT ON COLUMN candidate.forecast_drained_seconds_expected IS 'Forecast, expected (half lie below): time until nobody has a backlog; Infinity: not within the hour.';
COMMENT ON COLUMN candidate.forecast_drained_seconds_high IS 'Forecast, high (one in ten above): time until nobody has a backlog; Infinity: not within the hour.';
COMMENT ON COLUMN candidate.forecast_utilisation_low IS 'Forecast, low (one case in ten lies below): what arrives in the coming hour over what the busiest member can do.';
COMMENT ON COLUMN candidate.forecast_utilisation_expected IS 'Forecast, expected (half lie below): what arrives in the coming hour over what the busiest member can do.';
COMMENT ON COLUMN candidate.forecast_utilisation_high IS 'Forecast, high (one in ten above): what arrives in the coming hour over what the busiest member can do.';
COMMENT ON COLUMN candidate.forecast_lag_integral_low IS 'Forecast, low (one case in ten lies below): offsets behind, summed over the seconds of the coming hour.';
COMMENT ON COLUMN candidate.forecast_lag_integral_expected IS 'Forecast, expected (half lie below): offsets behind, summed over the seconds of the coming hour.';
COMMENT ON COLUMN candidate.forecast_lag_integral_high IS 'Forecast, high (one in ten above): offsets behind, summed over the seconds of the coming hour.';
COMMENT ON COLUMN candidate.price_restarts IS 'How many members have to be restarted for it, one counted as often as it is; null without a need.';
COMMENT ON COLUMN candidate.price_held_up_offsets IS 'Offsets that arrive while their partitions are held up by that; null without a need.';
COMMENT ON COLUMN candidate.price_offset_seconds IS 'What these add to the expected lag integral of the coming hour; null without a need.';

CREATE TABLE candidate_sample (
    snapshot_id TEXT NOT NULL,
    group_id TEXT NOT NULL,
    strategies TEXT[] NOT NULL,
    runnable BOOLEAN[] NOT NULL,
    member_lag REAL[] NOT NULL,
    forecast_lag REAL[] NOT NULL,
    cross_rack_share REAL[] NOT NULL,
    cross_rack_bytes_per_second REAL[] NOT NULL,
    moves INTEGER[] NOT NULL,
    CONSTRAINT candidate_sample_pkey PRIMARY KEY (snapshot_id, group_id),
    CONSTRAINT candidate_sample_snapshot_fkey FOREIGN KEY(snapshot_id) REFERENCES snapshot (snapshot_id) ON DELETE CASCADE
);

COMMENT ON TABLE candidate_sample IS 'What strategies would have given a group in a snapshot: until an hour after that of it is counted.';
COMMENT ON COLUMN candidate_sample.snapshot_id IS 'Which snapshot it belongs to.';
COMMENT ON COLUMN candidate_sample.group_id IS 'The consumer group.';
COMMENT ON COLUMN candidate_sample.strategies IS 'Our names of the strategies that had an answer, "live" (what the group had) among them, as on the scoreboard.';
COMMENT ON COLUMN candidate_sample.runnable IS 'Whether the group could run it, or could have been brought to it: a value for each strategy.';
COMMENT ON COLUMN candidate_sample.member_lag IS 'Largest lag of a member by its assignment, in offsets. A value for each strategy.';
COMMENT ON COLUMN candidate_sample.forecast_lag IS 'Lag to be expected an hour ahead, in offsets; null where nothing was forecast. A value for each strategy.';
COMMENT ON COLUMN candidate_sample.cross_rack_share IS 'Share of partitions read from a rack without a replica; null where racks are unknown. A value for each strategy.';
COMMENT ON COLUMN candidate_sample.cross_rack_bytes_per_second IS 'Bytes per second across racks once it keeps up. A value for each strategy.';
COMMENT ON COLUMN candidate_sample.moves IS 'Number of partitions (of Streams: tasks) that it would have moved. A value for each strategy.';

CREATE TABLE candidate_hour (
    cluster TEXT NOT NULL,
    group_id TEXT NOT NULL,
    since TIMESTAMP WITH TIME ZONE NOT NULL,
    strategies TEXT[] NOT NULL,
    snapshots SMALLINT[] NOT NULL,
    runnable_snapshots SMALLINT[] NOT NULL,
    best_member_lag REAL[] NOT NULL,
    median_member_lag REAL[] NOT NULL,
    worst_member_lag REAL[] NOT NULL,
    best_forecast_lag REAL[] NOT NULL,
    median_forecast_lag REAL[] NOT NULL,
    worst_forecast_lag REAL[] NOT NULL,
    best_cross_rack_share REAL[] NOT NULL,
    median_cross_rack_share REAL[] NOT NULL,
    worst_cross_rack_share REAL[] NOT NULL,
    cross_rack_bytes_per_second REAL[] NOT NULL,
    best_moves INTEGER[] NOT NULL,
    median_moves INTEGER[] NOT NULL,
    worst_moves INTEGER[] NOT NULL,
    CONSTRAINT candidate_hour_pkey PRIMARY KEY (cluster, group_id, since)
);

CREATE INDEX candidate_hour_since ON candidate_hour (since);

COMMENT ON TABLE candidate_hour IS 'An hour of what strategies would have given a group, in UTC; a median is that of its snapshots.';
COMMENT ON COLUMN candidate_hour.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN candidate_hour.group_id IS 'The consumer group.';
COMMENT ON COLUMN candidate_hour.since IS 'When the hour began.';
COMMENT ON COLUMN candidate_hour.strategies IS 'Our names of the strategies that had an answer in it, "live" (what the group had) among them.';
COMMENT ON COLUMN candidate_hour.snapshots IS 'Number of snapshots in which it had an answer. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.runnable_snapshots IS 'Number of those in which the group could run it, or could have been brought to it. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.best_member_lag IS 'Largest lag of a member by its assignment, in offsets: the smallest. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.median_member_lag IS 'Largest lag of a member by its assignment, in offsets: the median. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.worst_member_lag IS 'Largest lag of a member by its assignment, in offsets: the largest. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.best_forecast_lag IS 'Lag to be expected an hour ahead, in offsets; null where nothing was forecast: the smallest. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.median_forecast_lag IS 'Lag to be expected an hour ahead, in offsets; null where nothing was forecast: the median. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.worst_forecast_lag IS 'Lag to be expected an hour ahead, in offsets; null where nothing was forecast: the largest. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.best_cross_rack_share IS 'Share of partitions read from a rack without a replica; null where racks are unknown: the smallest. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.median_cross_rack_share IS 'Share of partitions read from a rack without a replica; null where racks are unknown: the median. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.worst_cross_rack_share IS 'Share of partitions read from a rack without a replica; null where racks are unknown: the largest. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.cross_rack_bytes_per_second IS 'Bytes per second across racks once it keeps up: the mean of those known. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.best_moves IS 'Number of partitions (of Streams: tasks) that it would have moved: the smallest. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.median_moves IS 'Number of partitions (of Streams: tasks) that it would have moved: the median. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.worst_moves IS 'Number of partitions (of Streams: tasks) that it would have moved: the largest. A value for each strategy.';

CREATE TABLE candidate_day (
    cluster TEXT NOT NULL,
    group_id TEXT NOT NULL,
    since TIMESTAMP WITH TIME ZONE NOT NULL,
    strategies TEXT[] NOT NULL,
    snapshots SMALLINT[] NOT NULL,
    runnable_snapshots SMALLINT[] NOT NULL,
    best_member_lag REAL[] NOT NULL,
    median_member_lag REAL[] NOT NULL,
    worst_member_lag REAL[] NOT NULL,
    best_forecast_lag REAL[] NOT NULL,
    median_forecast_lag REAL[] NOT NULL,
    worst_forecast_lag REAL[] NOT NULL,
    best_cross_rack_share REAL[] NOT NULL,
    median_cross_rack_share REAL[] NOT NULL,
    worst_cross_rack_share REAL[] NOT NULL,
    cross_rack_bytes_per_second REAL[] NOT NULL,
    best_moves INTEGER[] NOT NULL,
    median_moves INTEGER[] NOT NULL,
    worst_moves INTEGER[] NOT NULL,
    CONSTRAINT candidate_day_pkey PRIMARY KEY (cluster, group_id, since)
);

CREATE INDEX candidate_day_since ON candidate_day (since);

COMMENT ON TABLE candidate_day IS 'A day of what strategies would have given a group, in UTC; a median is that of the medians of its hours.';
COMMENT ON COLUMN candidate_day.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN candidate_day.group_id IS 'The consumer group.';
COMMENT ON COLUMN candidate_day.since IS 'When the day began.';
COMMENT ON COLUMN candidate_day.strategies IS 'Our names of the strategies that had an answer in it, "live" (what the group had) among them.';
COMMENT ON COLUMN candidate_day.snapshots IS 'Number of snapshots in which it had an answer. A value for each strategy.';
COMMENT ON COLUMN candidate_day.runnable_snapshots IS 'Number of those in which the group could run it, or could have been brought to it. A value for each strategy.';
COMMENT ON COLUMN candidate_day.best_member_lag IS 'Largest lag of a member by its assignment, in offsets: the smallest. A value for each strategy.';
COMMENT ON COLUMN candidate_day.median_member_lag IS 'Largest lag of a member by its assignment, in offsets: the median. A value for each strategy.';
COMMENT ON COLUMN candidate_day.worst_member_lag IS 'Largest lag of a member by its assignment, in offsets: the largest. A value for each strategy.';
COMMENT ON COLUMN candidate_day.best_forecast_lag IS 'Lag to be expected an hour ahead, in offsets; null where nothing was forecast: the smallest. A value for each strategy.';
COMMENT ON COLUMN candidate_day.median_forecast_lag IS 'Lag to be expected an hour ahead, in offsets; null where nothing was forecast: the median. A value for each strategy.';
COMMENT ON COLUMN candidate_day.worst_forecast_lag IS 'Lag to be expected an hour ahead, in offsets; null where nothing was forecast: the largest. A value for each strategy.';
COMMENT ON COLUMN candidate_day.best_cross_rack_share IS 'Share of partitions read from a rack without a replica; null where racks are unknown: the smallest. A value for each strategy.';
COMMENT ON COLUMN candidate_day.median_cross_rack_share IS 'Share of partitions read from a rack without a replica; null where racks are unknown: the median. A value for each strategy.';
COMMENT ON COLUMN candidate_day.worst_cross_rack_share IS 'Share of partitions read from a rack without a replica; null where racks are unknown: the largest. A value for each strategy.';
COMMENT ON COLUMN candidate_day.cross_rack_bytes_per_second IS 'Bytes per second across racks once it keeps up: the mean of those known. A value for each strategy.';
COMMENT ON COLUMN candidate_day.best_moves IS 'Number of partitions (of Streams: tasks) that it would have moved: the smallest. A value for each strategy.';
COMMENT ON COLUMN candidate_day.median_moves IS 'Number of partitions (of Streams: tasks) that it would have moved: the median. A value for each strategy.';
COMMENT ON COLUMN candidate_day.worst_moves IS 'Number of partitions (of Streams: tasks) that it would have moved: the largest. A value for each strategy.';

CREATE TABLE advice (
    advice_id BIGINT GENERATED ALWAYS AS IDENTITY,
    snapshot_id TEXT NOT NULL,
    cluster TEXT NOT NULL,
    group_id TEXT NOT NULL,
    config_version TEXT NOT NULL,
    verdict TEXT NOT NULL,
    strategy TEXT,
    reason TEXT NOT NULL,
    how TEXT,
    best_undeployable TEXT,
    best_undeployable_reason TEXT,
    seen INTEGER DEFAULT 0 NOT NULL,
    facts JSONB,
    best_undeployable_facts JSONB,
    state TEXT,
    state_since TIMESTAMP WITH TIME ZONE,
    course JSONB,
    owner TEXT,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    since TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    until TIMESTAMP WITH TIME ZONE,
    repeats BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT advice_pkey PRIMARY KEY (advice_id),
    CONSTRAINT advice_snapshot_fkey FOREIGN KEY(snapshot_id) REFERENCES snapshot (snapshot_id) ON DELETE CASCADE,
    CONSTRAINT advice_snapshot_group_key UNIQUE (snapshot_id, group_id),
    CONSTRAINT advice_verdict_check CHECK (verdict IN ('switch', 'stay', 'not evaluated')),
    CONSTRAINT advice_state_check CHECK (state IN ('proposed', 'confirmed', 'adopted', 'verified', 'missed', 'withdrawn', 'expired'))
);

CREATE INDEX advice_of_group ON advice (group_id, cluster, snapshot_id);
CREATE INDEX advice_open ON advice (cluster, group_id) WHERE NOT repeats AND until IS NULL;
CREATE INDEX advice_span ON advice (cluster, group_id, since) WHERE NOT repeats;

COMMENT ON TABLE advice IS 'What a group was told, "stay" included: after the newest snapshots each, before these where it was another.';
COMMENT ON COLUMN advice.advice_id IS 'Number of the advice.';
COMMENT ON COLUMN advice.snapshot_id IS 'Which snapshot it belongs to.';
COMMENT ON COLUMN advice.cluster IS 'The cluster of that snapshot.';
COMMENT ON COLUMN advice.group_id IS 'The consumer group.';
COMMENT ON COLUMN advice.config_version IS 'Hash of the configuration it was computed with.';
COMMENT ON COLUMN advice.verdict IS 'What it was told: switch, stay or not evaluated.';
COMMENT ON COLUMN advice.strategy IS 'The strategy that wins; null when none does.';
COMMENT ON COLUMN advice.reason IS 'Why.';
COMMENT ON COLUMN advice.how IS 'What to do to get that strategy.';
COMMENT ON COLUMN advice.best_undeployable IS 'The best strategy that cannot be deployed on this group.';
COMMENT ON COLUMN advice.best_undeployable_reason IS 'What it would gain, and why it cannot be deployed.';
COMMENT ON COLUMN advice.seen IS 'Number of consecutive snapshots, this one included, in which the strategy won.';
COMMENT ON COLUMN advice.facts IS 'The reason as values (kinds gain, loss, reason ...), to ask with @>: a list of {kind, measure, ...}.';
COMMENT ON COLUMN advice.best_undeployable_facts IS 'What that strategy would gain, as values of the same form.';
COMMENT ON COLUMN advice.state IS 'How far its newest advice has come: proposed, confirmed, adopted, verified, missed, withdrawn, expired.';
COMMENT ON COLUMN advice.state_since IS 'Since when it is in that state.';
COMMENT ON COLUMN advice.course IS 'What the next snapshot has to know of it, as JSON; null where that is nothing.';
COMMENT ON COLUMN advice.owner IS 'Who owned the group then; null where that was not configured, or not kept yet.';
COMMENT ON COLUMN advice.created_at IS 'When it was decided.';
COMMENT ON COLUMN advice.since IS 'Since when it was told so: when the first snapshot in a row was taken with this verdict, strategy and state.';
COMMENT ON COLUMN advice.until IS 'When the first snapshot was taken after which it was told otherwise; null: none was, or the row repeats another.';
COMMENT ON COLUMN advice.repeats IS 'Whether the advice before it said the same; such a row goes after some hours.';

CREATE TABLE advice_move (
    advice_id BIGINT NOT NULL,
    topic TEXT NOT NULL,
    partition INTEGER NOT NULL,
    from_member TEXT,
    to_member TEXT,
    CONSTRAINT advice_move_pkey PRIMARY KEY (advice_id, topic, partition),
    CONSTRAINT advice_move_advice_fkey FOREIGN KEY(advice_id) REFERENCES advice (advice_id) ON DELETE CASCADE
);

COMMENT ON TABLE advice_move IS 'A partition that changes hands when an advice is followed.';
COMMENT ON COLUMN advice_move.advice_id IS 'Which advice.';
COMMENT ON COLUMN advice_move.topic IS 'The topic.';
COMMENT ON COLUMN advice_move.partition IS 'Number of the partition in its topic.';
COMMENT ON COLUMN advice_move.from_member IS 'Id of the member that owns it now; null when nobody does.';
COMMENT ON COLUMN advice_move.to_member IS 'Id of the member that gets it; null when nobody does.';

CREATE TABLE advice_event (
    advice_id BIGINT NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    strategy TEXT NOT NULL,
    state TEXT NOT NULL,
    facts JSONB NOT NULL,
    diagnosis TEXT,
    cause TEXT DEFAULT '' NOT NULL,
    CONSTRAINT advice_event_pkey PRIMARY KEY (advice_id, state),
    CONSTRAINT advice_event_advice_fkey FOREIGN KEY(advice_id) REFERENCES advice (advice_id) ON DELETE CASCADE,
    CONSTRAINT advice_event_state_check CHECK (state IN ('proposed', 'confirmed', 'adopted', 'verified', 'missed', 'withdrawn', 'expired'))
);

CREATE INDEX advice_event_at ON advice_event (at);

COMMENT ON TABLE advice_event IS 'From a snapshot on an advice was in another state; one of each group and snapshot, two where it was taken up and verified at once.';
COMMENT ON COLUMN advice_event.advice_id IS 'With which advice that was stored.';
COMMENT ON COLUMN advice_event.at IS 'When the snapshot was taken.';
COMMENT ON COLUMN advice_event.strategy IS 'The strategy that it is about.';
COMMENT ON COLUMN advice_event.state IS 'What it became: proposed, confirmed, adopted, verified, missed, withdrawn or expired.';
COMMENT ON COLUMN advice_event.facts IS 'Why, as values: a list of {kind, measure, ...}.';
COMMENT ON COLUMN advice_event.diagnosis IS 'What was the matter with the group then.';
COMMENT ON COLUMN advice_event.cause IS 'Why, in words.';

CREATE TABLE advice_check (
    advice_id BIGINT NOT NULL,
    after_seconds INTEGER NOT NULL,
    measure TEXT NOT NULL,
    unit TEXT NOT NULL,
    low DOUBLE PRECISION NOT NULL,
    expected DOUBLE PRECISION NOT NULL,
    high DOUBLE PRECISION NOT NULL,
    strategy TEXT NOT NULL,
    adopted_at TIMESTAMP WITH TIME ZONE NOT NULL,
    realised DOUBLE PRECISION,
    CONSTRAINT advice_check_pkey PRIMARY KEY (advice_id, after_seconds, measure),
    CONSTRAINT advice_check_advice_fkey FOREIGN KEY(advice_id) REFERENCES advice (advice_id) ON DELETE CASCADE
);

COMMENT ON TABLE advice_check IS 'What was promised of an advice that was taken up, and what came, so long afterwards.';
COMMENT ON COLUMN advice_check.advice_id IS 'With which advice that was stored.';
COMMENT ON COLUMN advice_check.after_seconds IS 'How long after it was adopted, 0 as soon as it is seen; for a day, what was promised for an hour.';
COMMENT ON COLUMN advice_check.measure IS 'What was promised: lag, delay_seconds, utilisation (of the busiest member) or cross_rack_share.';
COMMENT ON COLUMN advice_check.unit IS 'What the values count: offsets, s, ratio or share.';
COMMENT ON COLUMN advice_check.low IS 'Low end of what was promised: four times of five it lies between low and high.';
COMMENT ON COLUMN advice_check.expected IS 'What was expected.';
COMMENT ON COLUMN advice_check.high IS 'High end of what was promised.';
COMMENT ON COLUMN advice_check.strategy IS 'The adopted strategy.';
COMMENT ON COLUMN advice_check.adopted_at IS 'When it was adopted.';
COMMENT ON COLUMN advice_check.realised IS 'What came; null where no snapshot tells it, or the assignment was another by then.';

CREATE TABLE incident (
    incident_id BIGINT GENERATED ALWAYS AS IDENTITY,
    cluster TEXT NOT NULL,
    group_id TEXT,
    key TEXT,
    kind TEXT NOT NULL,
    severity TEXT NOT NULL,
    began_at TIMESTAMP WITH TIME ZONE,
    opened_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_seen_at TIMESTAMP WITH TIME ZONE NOT NULL,
    closed_at TIMESTAMP WITH TIME ZONE,
    notified_at TIMESTAMP WITH TIME ZONE,
    alert_key TEXT,
    owner TEXT,
    summary TEXT,
    causes JSONB DEFAULT '[]' NOT NULL,
    good_snapshot_id TEXT,
    facts JSONB DEFAULT '{}' NOT NULL,
    CONSTRAINT incident_pkey PRIMARY KEY (incident_id),
    CONSTRAINT incident_key_key UNIQUE (key)
);

CREATE INDEX incident_alert ON incident (alert_key) WHERE alert_key IS NOT NULL;
CREATE INDEX incident_of_group ON incident (cluster, group_id, opened_at);
CREATE UNIQUE INDEX incident_one_open ON incident (cluster, kind) WHERE closed_at IS NULL AND group_id IS NULL;
CREATE UNIQUE INDEX incident_one_open_of_group ON incident (cluster, group_id) WHERE closed_at IS NULL AND group_id IS NOT NULL;

COMMENT ON TABLE incident IS 'Something that is wrong for a while: at most one open per group, one of each kind per pipeline of a cluster.';
COMMENT ON COLUMN incident.incident_id IS 'Number of the incident.';
COMMENT ON COLUMN incident.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN incident.group_id IS 'The consumer group; null when the whole cluster is concerned.';
COMMENT ON COLUMN incident.key IS 'Our own id of the incident, the same from beginning to end.';
COMMENT ON COLUMN incident.kind IS 'What is wrong; of a group the worst that was seen.';
COMMENT ON COLUMN incident.severity IS 'How bad it is.';
COMMENT ON COLUMN incident.began_at IS 'When it began, as far as is known; null where only its opening is.';
COMMENT ON COLUMN incident.opened_at IS 'When it was worth telling.';
COMMENT ON COLUMN incident.last_seen_at IS 'When it was last seen.';
COMMENT ON COLUMN incident.closed_at IS 'When it was over; null while it is open.';
COMMENT ON COLUMN incident.notified_at IS 'When its message first arrived; null: nobody has been told.';
COMMENT ON COLUMN incident.alert_key IS 'Key of the message that stands for it, its own or a digest; null while nobody is to be told.';
COMMENT ON COLUMN incident.owner IS 'Who owns the group; null where that is not configured.';
COMMENT ON COLUMN incident.summary IS 'What is wrong, in words.';
COMMENT ON COLUMN incident.causes IS 'All that is wrong, the worst first: a list of {cause, since, amount, facts ...}.';
COMMENT ON COLUMN incident.good_snapshot_id IS 'The last snapshot in which the group was well; null where none is known.';
COMMENT ON COLUMN incident.facts IS 'What is known about one of the pipeline, by name.';

CREATE TABLE incident_watch (
    cluster TEXT NOT NULL,
    subject TEXT NOT NULL,
    snapshot_id TEXT NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    first_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT incident_watch_pkey PRIMARY KEY (cluster, subject)
);

COMMENT ON TABLE incident_watch IS 'How far the groups of a cluster, or its pipeline, have been watched for incidents.';
COMMENT ON COLUMN incident_watch.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN incident_watch.subject IS 'What was watched.';
COMMENT ON COLUMN incident_watch.snapshot_id IS 'The newest snapshot that was looked at, also one that has no row; of the pipeline the newest look.';
COMMENT ON COLUMN incident_watch.at IS 'When its reading ended; of the pipeline when that was.';
COMMENT ON COLUMN incident_watch.first_at IS 'When the first one was.';

CREATE TABLE incident_course (
    cluster TEXT NOT NULL,
    subject TEXT NOT NULL,
    name TEXT NOT NULL,
    course JSONB NOT NULL,
    CONSTRAINT incident_course_pkey PRIMARY KEY (cluster, subject, name)
);

COMMENT ON TABLE incident_course IS 'What the next look has to know of a group or pipeline with which something is wrong, or may be; of one that is well there is none.';
COMMENT ON COLUMN incident_course.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN incident_course.subject IS 'What was watched.';
COMMENT ON COLUMN incident_course.name IS 'The consumer group, or what is wrong with the pipeline.';
COMMENT ON COLUMN incident_course.course IS 'How far its incident has come, as JSON.';

CREATE TABLE alert (
    alert_id BIGINT GENERATED ALWAYS AS IDENTITY,
    key TEXT NOT NULL,
    cluster TEXT NOT NULL,
    snapshot_id TEXT,
    kind TEXT NOT NULL,
    channel TEXT NOT NULL,
    message JSONB NOT NULL,
    answers TEXT,
    replaces TEXT,
    broadcast BOOLEAN DEFAULT false NOT NULL,
    state TEXT DEFAULT 'pending' NOT NULL,
    attempts INTEGER DEFAULT 0 NOT NULL,
    attempted_at TIMESTAMP WITH TIME ZONE,
    unsure BOOLEAN DEFAULT false NOT NULL,
    last_error TEXT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    sent_at TIMESTAMP WITH TIME ZONE,
    sent_channel TEXT,
    sent_timestamp TEXT,
    CONSTRAINT alert_pkey PRIMARY KEY (alert_id),
    CONSTRAINT alert_snapshot_fkey FOREIGN KEY(snapshot_id) REFERENCES snapshot (snapshot_id) ON DELETE CASCADE,
    CONSTRAINT alert_key_key UNIQUE (key),
    CONSTRAINT alert_state_check CHECK (state IN ('pending', 'sent', 'superseded'))
);

CREATE INDEX alert_answers ON alert (answers) WHERE answers IS NOT NULL;
CREATE INDEX alert_pending ON alert (created_at) WHERE state = 'pending';
CREATE INDEX alert_replaces ON alert (replaces) WHERE replaces IS NOT NULL;
CREATE INDEX alert_snapshot ON alert (snapshot_id);

COMMENT ON TABLE alert IS 'A message to people: stored as pending, then delivered, then marked as sent.';
COMMENT ON COLUMN alert.alert_id IS 'Number of the message.';
COMMENT ON COLUMN alert.key IS 'Our own id of what is said; nothing is said twice under one key.';
COMMENT ON COLUMN alert.cluster IS 'Configured name of the cluster it is about.';
COMMENT ON COLUMN alert.snapshot_id IS 'The snapshot it speaks of, if it speaks of one.';
COMMENT ON COLUMN alert.kind IS 'What sort of message it is.';
COMMENT ON COLUMN alert.channel IS 'Where it is to be said.';
COMMENT ON COLUMN alert.message IS 'What is to be said, without any markup of a messenger.';
COMMENT ON COLUMN alert.answers IS 'Key of the message in whose thread it belongs; null: it stands alone.';
COMMENT ON COLUMN alert.replaces IS 'Key of the message that is changed to it, as that was first posted; null: it is posted anew.';
COMMENT ON COLUMN alert.broadcast IS 'Whether an answer is shown in the channel, too.';
COMMENT ON COLUMN alert.state IS 'Whether it is pending, sent, or superseded by something newer before it could be sent.';
COMMENT ON COLUMN alert.attempts IS 'Number of deliveries tried.';
COMMENT ON COLUMN alert.attempted_at IS 'When a delivery was begun that may still be under way; null when none is.';
COMMENT ON COLUMN alert.unsure IS 'Whether an attempt failed in such a way that the message may be there after all.';
COMMENT ON COLUMN alert.last_error IS 'Why the last one failed; null when it did not.';
COMMENT ON COLUMN alert.created_at IS 'When it was stored.';
COMMENT ON COLUMN alert.sent_at IS 'When it was delivered; null before.';
COMMENT ON COLUMN alert.sent_channel IS 'The messenger''s own id of where it was delivered.';
COMMENT ON COLUMN alert.sent_timestamp IS 'The messenger''s own id of the message, to update or answer it.';

CREATE TABLE silence (
    silence_id BIGINT GENERATED ALWAYS AS IDENTITY,
    kind TEXT NOT NULL,
    cluster TEXT NOT NULL,
    groups TEXT NOT NULL,
    starts_at TIMESTAMP WITH TIME ZONE NOT NULL,
    ends_at TIMESTAMP WITH TIME ZONE,
    reason TEXT NOT NULL,
    who TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    channels TEXT[] DEFAULT '{}' NOT NULL,
    end_notified_at TIMESTAMP WITH TIME ZONE,
    cluster_regex TEXT NOT NULL,
    groups_regex TEXT NOT NULL,
    CONSTRAINT silence_pkey PRIMARY KEY (silence_id),
    CONSTRAINT silence_kind_check CHECK (kind IN ('silence', 'ack', 'maintenance')),
    CONSTRAINT silence_end_check CHECK (ends_at > starts_at AND (ends_at IS NOT NULL OR kind = 'ack'))
);

CREATE INDEX silence_not_over ON silence (starts_at) WHERE end_notified_at IS NULL;
CREATE UNIQUE INDEX silence_window ON silence (cluster, groups, starts_at) WHERE kind = 'maintenance' AND ended_at IS NULL;

COMMENT ON TABLE silence IS 'For which groups nobody is woken, from when to when, by whom and why. Maintenance is noted when it begins.';
COMMENT ON COLUMN silence.silence_id IS 'Number of the silence.';
COMMENT ON COLUMN silence.kind IS 'Whether it is a silence, an ack (of incidents that were open when it began) or planned maintenance.';
COMMENT ON COLUMN silence.cluster IS 'Shell pattern of the clusters that it covers.';
COMMENT ON COLUMN silence.groups IS 'Shell pattern of the groups that it covers.';
COMMENT ON COLUMN silence.starts_at IS 'When it begins.';
COMMENT ON COLUMN silence.ends_at IS 'When it is to end; null: with the incidents that it is about.';
COMMENT ON COLUMN silence.reason IS 'Why.';
COMMENT ON COLUMN silence.who IS 'Who wanted it so.';
COMMENT ON COLUMN silence.created_at IS 'When it was stored.';
COMMENT ON COLUMN silence.ended_at IS 'When it was ended early; null when it was not.';
COMMENT ON COLUMN silence.channels IS 'Where people have been told that it began.';
COMMENT ON COLUMN silence.end_notified_at IS 'When its end was told, or needed no word; null before.';
COMMENT ON COLUMN silence.cluster_regex IS 'The pattern of clusters as a regular expression of Postgres.';
COMMENT ON COLUMN silence.groups_regex IS 'The pattern of groups as a regular expression of Postgres.';

CREATE TABLE consumer_group (
    group_number INTEGER GENERATED ALWAYS AS IDENTITY,
    cluster TEXT NOT NULL,
    group_id TEXT NOT NULL,
    CONSTRAINT consumer_group_pkey PRIMARY KEY (group_number),
    CONSTRAINT consumer_group_cluster_fkey FOREIGN KEY(cluster) REFERENCES cluster (cluster) ON DELETE CASCADE,
    CONSTRAINT consumer_group_key UNIQUE (cluster, group_id)
);

COMMENT ON TABLE consumer_group IS 'A group that has a sample, and the number that stands for it.';
COMMENT ON COLUMN consumer_group.group_number IS 'Number of the group; short, as its history has it in every row.';
COMMENT ON COLUMN consumer_group.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN consumer_group.group_id IS 'The consumer group.';

CREATE TABLE group_sample (
    group_number INTEGER NOT NULL,
    members INTEGER,
    taken_at TIMESTAMP WITH TIME ZONE NOT NULL,
    total_lag BIGINT,
    largest_member_lag BIGINT,
    lag_lower_bound BIGINT,
    partitions INTEGER,
    unknown_lag_partitions INTEGER,
    lag_skew REAL,
    delay_seconds REAL,
    time_lag_seconds REAL,
    production_per_second REAL,
    consumption_per_second REAL,
    cross_rack_bytes_per_second REAL,
    cross_rack_cost_per_month REAL,
    partitions_moved INTEGER,
    members_joined INTEGER,
    members_left INTEGER,
    members_restarted INTEGER,
    forecast_soon_lag_low REAL,
    forecast_soon_lag_expected REAL,
    forecast_soon_lag_high REAL,
    forecast_lag_low REAL,
    forecast_lag_expected REAL,
    forecast_lag_high REAL,
    readable BOOLEAN NOT NULL,
    compared BOOLEAN NOT NULL,
    reassigned BOOLEAN NOT NULL,
    status TEXT,
    state TEXT,
    diagnosis TEXT,
    currency TEXT,
    would_have_moved JSONB,
    CONSTRAINT group_sample_pkey PRIMARY KEY (group_number, taken_at),
    CONSTRAINT group_sample_group_fkey FOREIGN KEY(group_number) REFERENCES consumer_group (group_number) ON DELETE CASCADE
)
 PARTITION BY RANGE (taken_at);

CREATE INDEX group_sample_changes ON group_sample (group_number, taken_at) WHERE would_have_moved IS NOT NULL;
CREATE INDEX group_sample_taken_at ON group_sample USING brin (taken_at) WITH (pages_per_range = 16, autosummarize = on);

COMMENT ON TABLE group_sample IS 'How a group fared in a snapshot, as far as that is asked for later; a table for each day in UTC.';
COMMENT ON COLUMN group_sample.group_number IS 'Which group.';
COMMENT ON COLUMN group_sample.members IS 'Number of members.';
COMMENT ON COLUMN group_sample.taken_at IS 'When the reading of the snapshot began.';
COMMENT ON COLUMN group_sample.total_lag IS 'Lag over all its partitions, in offsets; null when it is not known.';
COMMENT ON COLUMN group_sample.largest_member_lag IS 'Largest lag of a member, in offsets; null when a lag is unknown.';
COMMENT ON COLUMN group_sample.lag_lower_bound IS 'No assignment has a smaller largest member lag than this, in offsets.';
COMMENT ON COLUMN group_sample.partitions IS 'Number of partitions inside the totals.';
COMMENT ON COLUMN group_sample.unknown_lag_partitions IS 'Number of those whose lag is unknown; null: none, or it is not known how many there are.';
COMMENT ON COLUMN group_sample.lag_skew IS 'Largest member lag over mean member lag; null when the total is 0 or unknown.';
COMMENT ON COLUMN group_sample.delay_seconds IS 'How far it was behind beyond its commit interval.';
COMMENT ON COLUMN group_sample.time_lag_seconds IS 'Age in seconds of its oldest record not yet consumed.';
COMMENT ON COLUMN group_sample.production_per_second IS 'Offsets per second produced to its partitions.';
COMMENT ON COLUMN group_sample.consumption_per_second IS 'Offsets per second it committed.';
COMMENT ON COLUMN group_sample.cross_rack_bytes_per_second IS 'Bytes per second across racks.';
COMMENT ON COLUMN group_sample.cross_rack_cost_per_month IS 'What that costs in 30 days; null without a price.';
COMMENT ON COLUMN group_sample.partitions_moved IS 'Partitions that went from one member to another since the snapshot before; null: none, or not compared.';
COMMENT ON COLUMN group_sample.members_joined IS 'Members that came since then; null: none, or not compared.';
COMMENT ON COLUMN group_sample.members_left IS 'Members that went since then; null: none, or not compared.';
COMMENT ON COLUMN group_sample.members_restarted IS 'Members that came back under another id since then; null: none, or not compared.';
COMMENT ON COLUMN group_sample.forecast_soon_lag_low IS 'Forecast of its lag as it was, low (one case in ten lies below): 15 minutes ahead.';
COMMENT ON COLUMN group_sample.forecast_soon_lag_expected IS 'Forecast of its lag as it was, expected (half lie below): 15 minutes ahead.';
COMMENT ON COLUMN group_sample.forecast_soon_lag_high IS 'Forecast of its lag as it was, high (one in ten above): 15 minutes ahead.';
COMMENT ON COLUMN group_sample.forecast_lag_low IS 'Forecast of its lag as it was, low (one case in ten lies below): an hour ahead.';
COMMENT ON COLUMN group_sample.forecast_lag_expected IS 'Forecast of its lag as it was, expected (half lie below): an hour ahead.';
COMMENT ON COLUMN group_sample.forecast_lag_high IS 'Forecast of its lag as it was, high (one in ten above): an hour ahead.';
COMMENT ON COLUMN group_sample.readable IS 'Whether it could be read, and was not withheld.';
COMMENT ON COLUMN group_sample.compared IS 'Whether its members are compared with those of a snapshot before.';
COMMENT ON COLUMN group_sample.reassigned IS 'Whether somebody else owns something than in the snapshot before, or that is not known.';
COMMENT ON COLUMN group_sample.status IS 'That of its worst partition; null: OK.';
COMMENT ON COLUMN group_sample.state IS 'State of the group, as the broker names it; null: Stable.';
COMMENT ON COLUMN group_sample.diagnosis IS 'What was the matter with it; null: not judged.';
COMMENT ON COLUMN group_sample.currency IS 'Currency of the cost, ISO 4217; null without a price.';
COMMENT ON COLUMN group_sample.would_have_moved IS 'What strategies in force before would have moved instead: {strategy, moves}; null where nothing changed.';

CREATE TABLE member_span (
    cluster TEXT NOT NULL,
    group_id TEXT NOT NULL,
    member_id TEXT NOT NULL,
    identity TEXT NOT NULL,
    since TIMESTAMP WITH TIME ZONE NOT NULL,
    until TIMESTAMP WITH TIME ZONE,
    CONSTRAINT member_span_pkey PRIMARY KEY (cluster, group_id, member_id, since),
    CONSTRAINT member_span_cluster_fkey FOREIGN KEY(cluster) REFERENCES cluster (cluster) ON DELETE CASCADE
);

CREATE UNIQUE INDEX member_span_open ON member_span (cluster, group_id, member_id) WHERE until IS NULL;
CREATE INDEX member_span_since ON member_span (cluster, since);
CREATE INDEX member_span_until ON member_span (cluster, until) WHERE until IS NOT NULL;

COMMENT ON TABLE member_span IS 'From when to when a group had a member, as its newest snapshots told in which it was at rest.';
COMMENT ON COLUMN member_span.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN member_span.group_id IS 'The consumer group.';
COMMENT ON COLUMN member_span.member_id IS 'Id the coordinator gave it; it changes when the member restarts.';
COMMENT ON COLUMN member_span.identity IS 'What stays the same over restarts: the instance id, else client id and host.';
COMMENT ON COLUMN member_span.since IS 'When the first snapshot was taken that shows it.';
COMMENT ON COLUMN member_span.until IS 'When the first snapshot was taken that does not show it; null: none does.';

CREATE TABLE group_hour (
    cluster TEXT NOT NULL,
    group_id TEXT NOT NULL,
    since TIMESTAMP WITH TIME ZONE NOT NULL,
    snapshots INTEGER NOT NULL,
    unreadable_snapshots INTEGER NOT NULL,
    covered_seconds DOUBLE PRECISION NOT NULL,
    known_lag_snapshots INTEGER NOT NULL,
    lowest_lag BIGINT,
    mean_lag DOUBLE PRECISION,
    highest_lag BIGINT,
    last_lag BIGINT,
    highest_delay_seconds DOUBLE PRECISION,
    highest_time_lag_seconds DOUBLE PRECISION,
    fewest_members INTEGER,
    most_members INTEGER,
    known_production_snapshots INTEGER NOT NULL,
    production_per_second DOUBLE PRECISION,
    known_consumption_snapshots INTEGER NOT NULL,
    consumption_per_second DOUBLE PRECISION,
    diagnosis_seconds JSONB NOT NULL,
    cross_rack_seconds DOUBLE PRECISION NOT NULL,
    cross_rack_bytes DOUBLE PRECISION,
    cross_rack_cost DOUBLE PRECISION,
    currency TEXT,
    rebalancing_snapshots INTEGER NOT NULL,
    compared_snapshots INTEGER NOT NULL,
    changed_snapshots INTEGER NOT NULL,
    members_joined INTEGER,
    members_left INTEGER,
    members_restarted INTEGER,
    partitions_moved INTEGER,
    would_have_moved JSONB NOT NULL,
    advised_snapshots INTEGER NOT NULL,
    wins JSONB NOT NULL,
    CONSTRAINT group_hour_pkey PRIMARY KEY (cluster, group_id, since)
);

CREATE INDEX group_hour_since ON group_hour (since);

COMMENT ON TABLE group_hour IS 'An hour of a group, in UTC, made from its snapshots by the maintenance; it stays longer than these.';
COMMENT ON COLUMN group_hour.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN group_hour.group_id IS 'The consumer group.';
COMMENT ON COLUMN group_hour.since IS 'When the hour began.';
COMMENT ON COLUMN group_hour.snapshots IS 'Number of snapshots that show it.';
COMMENT ON COLUMN group_hour.unreadable_snapshots IS 'Number of those that could not read it, or withheld it.';
COMMENT ON COLUMN group_hour.covered_seconds IS 'Seconds that they stand for: each for those since the snapshot before it, an hour at most.';
COMMENT ON COLUMN group_hour.known_lag_snapshots IS 'Number of snapshots in which its lag is known.';
COMMENT ON COLUMN group_hour.lowest_lag IS 'Lowest of these lags; null when none is known.';
COMMENT ON COLUMN group_hour.mean_lag IS 'Mean of these lags.';
COMMENT ON COLUMN group_hour.highest_lag IS 'Highest of these lags.';
COMMENT ON COLUMN group_hour.last_lag IS 'The last of these lags.';
COMMENT ON COLUMN group_hour.highest_delay_seconds IS 'How far it was behind at worst, beyond its commit interval, as far as known.';
COMMENT ON COLUMN group_hour.highest_time_lag_seconds IS 'Highest age of its oldest record not yet consumed, as far as known.';
COMMENT ON COLUMN group_hour.fewest_members IS 'Number of members when they were fewest.';
COMMENT ON COLUMN group_hour.most_members IS 'Number of members when they were most.';
COMMENT ON COLUMN group_hour.known_production_snapshots IS 'Number of snapshots in which its production is known.';
COMMENT ON COLUMN group_hour.production_per_second IS 'Mean of the offsets per second produced to its partitions.';
COMMENT ON COLUMN group_hour.known_consumption_snapshots IS 'Number of snapshots in which its consumption is known.';
COMMENT ON COLUMN group_hour.consumption_per_second IS 'Mean of the offsets per second that it commits.';
COMMENT ON COLUMN group_hour.diagnosis_seconds IS 'Of the seconds covered, how many each diagnosis held: {diagnosis: seconds}.';
COMMENT ON COLUMN group_hour.cross_rack_seconds IS 'Of the seconds covered, those of which it is known what crossed racks.';
COMMENT ON COLUMN group_hour.cross_rack_bytes IS 'Bytes that crossed racks in these; null when that is never known.';
COMMENT ON COLUMN group_hour.cross_rack_cost IS 'What those cost at the price then configured; null without a price or when it changed its currency.';
COMMENT ON COLUMN group_hour.currency IS 'Currency of the cost, ISO 4217; null without one.';
COMMENT ON COLUMN group_hour.rebalancing_snapshots IS 'Number of snapshots in which it was rebalancing.';
COMMENT ON COLUMN group_hour.compared_snapshots IS 'Number of snapshots whose members are compared with those before.';
COMMENT ON COLUMN group_hour.changed_snapshots IS 'Number of those in which members had joined, left or restarted: so many rebalances, or more.';
COMMENT ON COLUMN group_hour.members_joined IS 'Number of members that joined; null when none could be compared.';
COMMENT ON COLUMN group_hour.members_left IS 'Number of members that left.';
COMMENT ON COLUMN group_hour.members_restarted IS 'Number of members that restarted.';
COMMENT ON COLUMN group_hour.partitions_moved IS 'Number of partitions that went from one member to another by that.';
COMMENT ON COLUMN group_hour.would_have_moved IS 'What strategies in force before would have moved instead: a list of {strategy, moves, changes}.';
COMMENT ON COLUMN group_hour.advised_snapshots IS 'Number of snapshots after which it was advised to switch or to stay.';
COMMENT ON COLUMN group_hour.wins IS 'Which strategy won then, null where none did: a list of {strategy, won, advised}.';

CREATE TABLE group_day (
    cluster TEXT NOT NULL,
    group_id TEXT NOT NULL,
    since TIMESTAMP WITH TIME ZONE NOT NULL,
    snapshots INTEGER NOT NULL,
    unreadable_snapshots INTEGER NOT NULL,
    covered_seconds DOUBLE PRECISION NOT NULL,
    known_lag_snapshots INTEGER NOT NULL,
    lowest_lag BIGINT,
    mean_lag DOUBLE PRECISION,
    highest_lag BIGINT,
    last_lag BIGINT,
    highest_delay_seconds DOUBLE PRECISION,
    highest_time_lag_seconds DOUBLE PRECISION,
    fewest_members INTEGER,
    most_members INTEGER,
    known_production_snapshots INTEGER NOT NULL,
    production_per_second DOUBLE PRECISION,
    known_consumption_snapshots INTEGER NOT NULL,
    consumption_per_second DOUBLE PRECISION,
    diagnosis_seconds JSONB NOT NULL,
    cross_rack_seconds DOUBLE PRECISION NOT NULL,
    cross_rack_bytes DOUBLE PRECISION,
    cross_rack_cost DOUBLE PRECISION,
    currency TEXT,
    rebalancing_snapshots INTEGER NOT NULL,
    compared_snapshots INTEGER NOT NULL,
    changed_snapshots INTEGER NOT NULL,
    members_joined INTEGER,
    members_left INTEGER,
    members_restarted INTEGER,
    partitions_moved INTEGER,
    would_have_moved JSONB NOT NULL,
    advised_snapshots INTEGER NOT NULL,
    wins JSONB NOT NULL,
    CONSTRAINT group_day_pkey PRIMARY KEY (cluster, group_id, since)
);

CREATE INDEX group_day_since ON group_day (since);
CREATE INDEX group_day_week ON group_day (date_bin('7 days', since, '2000-01-03 00:00:00+00'));

COMMENT ON TABLE group_day IS 'A day of a group, in UTC, made from its hours by the maintenance; it stays longer than these.';
COMMENT ON COLUMN group_day.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN group_day.group_id IS 'The consumer group.';
COMMENT ON COLUMN group_day.since IS 'When the day began.';
COMMENT ON COLUMN group_day.snapshots IS 'Number of snapshots that show it.';
COMMENT ON COLUMN group_day.unreadable_snapshots IS 'Number of those that could not read it, or withheld it.';
COMMENT ON COLUMN group_day.covered_seconds IS 'Seconds that they stand for: each for those since the snapshot before it, an hour at most.';
COMMENT ON COLUMN group_day.known_lag_snapshots IS 'Number of snapshots in which its lag is known.';
COMMENT ON COLUMN group_day.lowest_lag IS 'Lowest of these lags; null when none is known.';
COMMENT ON COLUMN group_day.mean_lag IS 'Mean of these lags.';
COMMENT ON COLUMN group_day.highest_lag IS 'Highest of these lags.';
COMMENT ON COLUMN group_day.last_lag IS 'The last of these lags.';
COMMENT ON COLUMN group_day.highest_delay_seconds IS 'How far it was behind at worst, beyond its commit interval, as far as known.';
COMMENT ON COLUMN group_day.highest_time_lag_seconds IS 'Highest age of its oldest record not yet consumed, as far as known.';
COMMENT ON COLUMN group_day.fewest_members IS 'Number of members when they were fewest.';
COMMENT ON COLUMN group_day.most_members IS 'Number of members when they were most.';
COMMENT ON COLUMN group_day.known_production_snapshots IS 'Number of snapshots in which its production is known.';
COMMENT ON COLUMN group_day.production_per_second IS 'Mean of the offsets per second produced to its partitions.';
COMMENT ON COLUMN group_day.known_consumption_snapshots IS 'Number of snapshots in which its consumption is known.';
COMMENT ON COLUMN group_day.consumption_per_second IS 'Mean of the offsets per second that it commits.';
COMMENT ON COLUMN group_day.diagnosis_seconds IS 'Of the seconds covered, how many each diagnosis held: {diagnosis: seconds}.';
COMMENT ON COLUMN group_day.cross_rack_seconds IS 'Of the seconds covered, those of which it is known what crossed racks.';
COMMENT ON COLUMN group_day.cross_rack_bytes IS 'Bytes that crossed racks in these; null when that is never known.';
COMMENT ON COLUMN group_day.cross_rack_cost IS 'What those cost at the price then configured; null without a price or when it changed its currency.';
COMMENT ON COLUMN group_day.currency IS 'Currency of the cost, ISO 4217; null without one.';
COMMENT ON COLUMN group_day.rebalancing_snapshots IS 'Number of snapshots in which it was rebalancing.';
COMMENT ON COLUMN group_day.compared_snapshots IS 'Number of snapshots whose members are compared with those before.';
COMMENT ON COLUMN group_day.changed_snapshots IS 'Number of those in which members had joined, left or restarted: so many rebalances, or more.';
COMMENT ON COLUMN group_day.members_joined IS 'Number of members that joined; null when none could be compared.';
COMMENT ON COLUMN group_day.members_left IS 'Number of members that left.';
COMMENT ON COLUMN group_day.members_restarted IS 'Number of members that restarted.';
COMMENT ON COLUMN group_day.partitions_moved IS 'Number of partitions that went from one member to another by that.';
COMMENT ON COLUMN group_day.would_have_moved IS 'What strategies in force before would have moved instead: a list of {strategy, moves, changes}.';
COMMENT ON COLUMN group_day.advised_snapshots IS 'Number of snapshots after which it was advised to switch or to stay.';
COMMENT ON COLUMN group_day.wins IS 'Which strategy won then, null where none did: a list of {strategy, won, advised}.';

CREATE TABLE diagnosis_span (
    cluster TEXT NOT NULL,
    group_id TEXT NOT NULL,
    diagnosis TEXT NOT NULL,
    since TIMESTAMP WITH TIME ZONE NOT NULL,
    until TIMESTAMP WITH TIME ZONE,
    already_so BOOLEAN NOT NULL,
    CONSTRAINT diagnosis_span_pkey PRIMARY KEY (cluster, group_id, since)
);

CREATE UNIQUE INDEX diagnosis_span_open ON diagnosis_span (cluster, group_id) WHERE until IS NULL;
CREATE INDEX diagnosis_span_until ON diagnosis_span (until);

COMMENT ON TABLE diagnosis_span IS 'From when to when a group had a diagnosis, as its newest snapshots told.';
COMMENT ON COLUMN diagnosis_span.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN diagnosis_span.group_id IS 'The consumer group.';
COMMENT ON COLUMN diagnosis_span.diagnosis IS 'What was the matter with it; unknown where that could not be told.';
COMMENT ON COLUMN diagnosis_span.since IS 'When the first snapshot was taken that shows it so.';
COMMENT ON COLUMN diagnosis_span.until IS 'When the first snapshot was taken that shows it otherwise; null: none does.';
COMMENT ON COLUMN diagnosis_span.already_so IS 'Whether it was so already when it was first looked at: then it may be so for longer.';

CREATE TABLE step_run (
    step_run_id BIGINT GENERATED ALWAYS AS IDENTITY,
    cluster TEXT,
    snapshot_id TEXT,
    step TEXT NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE NOT NULL,
    finished_at TIMESTAMP WITH TIME ZONE NOT NULL,
    outcome TEXT NOT NULL,
    error TEXT,
    link TEXT,
    CONSTRAINT step_run_pkey PRIMARY KEY (step_run_id),
    CONSTRAINT step_run_outcome_check CHECK (outcome IN ('ok', 'failed', 'skipped'))
);

CREATE INDEX step_run_cluster ON step_run (cluster, step, started_at DESC);
CREATE INDEX step_run_snapshot ON step_run (snapshot_id);
CREATE INDEX step_run_started_at ON step_run (started_at);

COMMENT ON TABLE step_run IS 'A run of a step of the pipeline; a failed one with its error.';
COMMENT ON COLUMN step_run.step_run_id IS 'Number of the run.';
COMMENT ON COLUMN step_run.cluster IS 'Configured name of the cluster; null for a step that concerns all.';
COMMENT ON COLUMN step_run.snapshot_id IS 'The snapshot, also one that has no row yet; null for a step that makes one or needs none.';
COMMENT ON COLUMN step_run.step IS 'Name of the step.';
COMMENT ON COLUMN step_run.started_at IS 'When it began.';
COMMENT ON COLUMN step_run.finished_at IS 'When it ended.';
COMMENT ON COLUMN step_run.outcome IS 'How it ended: ok, failed, or skipped as the run before was still at it.';
COMMENT ON COLUMN step_run.error IS 'Why it failed or was skipped, in one line; null when it was not.';
COMMENT ON COLUMN step_run.link IS 'Address of the task in Airflow, one for all tries of a run; null elsewhere.';

CREATE TABLE held_lock (
    name TEXT NOT NULL,
    pid INTEGER NOT NULL,
    role TEXT NOT NULL,
    since TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT held_lock_pkey PRIMARY KEY (name)
);

COMMENT ON TABLE held_lock IS 'A lock and the transaction that holds it: once that ends, however it ends, the lock is free.';
COMMENT ON COLUMN held_lock.name IS 'Name of the lock.';
COMMENT ON COLUMN held_lock.pid IS 'Process id of the server process of the holder''s session.';
COMMENT ON COLUMN held_lock.role IS 'Role of the holder''s session.';
COMMENT ON COLUMN held_lock.since IS 'When the holder''s transaction began.';
