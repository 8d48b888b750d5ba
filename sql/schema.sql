-- Tables of the history database, generated from the records (`python -m tests.helpers.made_tables`).
-- `evenkeel admin migrate` runs the files in migrations/. Functions are in functions.sql, views in views/. Requires
-- Postgres 15 or newer.
--
-- Unknown values are null, never 0 or -1. Times are timestamptz. Lag and lost records are in offsets, rates in offsets
-- per second, shares are fractions of 1. Infinity in a double precision column means "never".
-- Deleting a snapshot deletes the rows that belong to it.


CREATE TABLE cluster (
    cluster TEXT NOT NULL,
    kafka_cluster_id TEXT,
    first_seen_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT cluster_pkey PRIMARY KEY (cluster)
);

COMMENT ON TABLE cluster IS 'One row per Kafka cluster with at least one snapshot.';
COMMENT ON COLUMN cluster.cluster IS 'Configured name.';
COMMENT ON COLUMN cluster.kafka_cluster_id IS 'Cluster id of Kafka; a different id under the same name is an error.';
COMMENT ON COLUMN cluster.first_seen_at IS 'Start of its first snapshot.';

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

COMMENT ON TABLE snapshot IS 'One row per snapshot of a cluster, with the time at which each step completed.';
COMMENT ON COLUMN snapshot.snapshot_id IS 'Id: <cluster>-<UTC second>-<6 random>.';
COMMENT ON COLUMN snapshot.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN snapshot.started_at IS 'Start of the snapshot.';
COMMENT ON COLUMN snapshot.finished_at IS 'End of the snapshot.';
COMMENT ON COLUMN snapshot.first_read_at IS 'Time when its first committed offset was read; null before its metrics are computed.';
COMMENT ON COLUMN snapshot.last_read_at IS 'Time when its last offset was read; null before its metrics are computed.';
COMMENT ON COLUMN snapshot.partial IS 'True if part of the cluster could not be read.';
COMMENT ON COLUMN snapshot.problems IS 'Read errors, each with its cause.';
COMMENT ON COLUMN snapshot.requests IS 'Number of protocol requests by API name.';
COMMENT ON COLUMN snapshot.bytes_sent IS 'Bytes of its requests, without the overhead of TLS; null if unknown.';
COMMENT ON COLUMN snapshot.bytes_received IS 'Bytes of its responses, without the overhead of TLS; null if unknown.';
COMMENT ON COLUMN snapshot.group_count IS 'Number of groups.';
COMMENT ON COLUMN snapshot.unreadable_groups IS 'Number of groups that could not be read completely; null if unknown.';
COMMENT ON COLUMN snapshot.schema_version IS 'Schema version of its tables in the lake.';
COMMENT ON COLUMN snapshot.config_version IS 'Hash of the configuration that it was taken with.';
COMMENT ON COLUMN snapshot.written_at IS 'Time when it was completely written to the lake.';
COMMENT ON COLUMN snapshot.validated_at IS 'Time when its first validation was stored; null before.';
COMMENT ON COLUMN snapshot.rejected IS 'True if a validation rejected the whole snapshot; null before the first one.';
COMMENT ON COLUMN snapshot.measured_at IS 'Time when its metrics were first stored; null before.';
COMMENT ON COLUMN snapshot.proposed_at IS 'Time when its candidates were first stored; null before.';
COMMENT ON COLUMN snapshot.advised_at IS 'Time when its advice was stored, even if there was no group to advise; null before.';
COMMENT ON COLUMN snapshot.adopted_at IS 'Time when a run started to compute its advice; null before.';
COMMENT ON COLUMN snapshot.claimed_by IS 'Id of that run; null before, and without a scheduler.';
COMMENT ON COLUMN snapshot.superseded_by IS 'Id of the newer snapshot that got advice in its place; it has metrics but no advice. Null if not superseded.';
COMMENT ON COLUMN snapshot.rolled_up_at IS 'Time when it was last rolled up; null if not yet, or if it changed since.';
COMMENT ON COLUMN snapshot.checks IS 'Number of checked expectations; null if unknown.';
COMMENT ON COLUMN snapshot.thinned_at IS 'Time when its metrics, candidates and repeated advice were deleted here; null before.';

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

COMMENT ON TABLE validation IS 'One row per expectation of a snapshot and its results. A failed critical row skips its group.';
COMMENT ON COLUMN validation.validation_id IS 'Number of the row.';
COMMENT ON COLUMN validation.snapshot_id IS 'Id of the snapshot.';
COMMENT ON COLUMN validation.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN validation.stage IS 'Validated data: snapshot, metrics or candidates.';
COMMENT ON COLUMN validation.group_id IS 'Checked group; null for the whole snapshot.';
COMMENT ON COLUMN validation.expectation IS 'Expectation.';
COMMENT ON COLUMN validation.severity IS 'Severity of a failure: critical skips the group (without a group, rejects the snapshot), warning or info.';
COMMENT ON COLUMN validation.success IS 'True if the expectation was met.';
COMMENT ON COLUMN validation.unexpected_count IS 'Number of rows that failed it.';
COMMENT ON COLUMN validation.checked_count IS 'Number of checked rows.';
COMMENT ON COLUMN validation.reason IS 'Description of the failure.';

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
    rebalance_seconds DOUBLE PRECISION,
    rebalance_basis TEXT,
    rebalances_observed INTEGER,
    restart_seconds DOUBLE PRECISION,
    restart_basis TEXT,
    restarts_observed INTEGER,
    client_library TEXT,
    pause_course JSONB,
    delay_seconds DOUBLE PRECISION,
    commit_ages_seconds DOUBLE PRECISION[],
    assignment TEXT,
    forecast_course JSONB,
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

COMMENT ON TABLE group_metrics IS 'One row per group and snapshot with its metrics. If error is set, all numbers are null.';
COMMENT ON COLUMN group_metrics.snapshot_id IS 'Id of the snapshot.';
COMMENT ON COLUMN group_metrics.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN group_metrics.group_id IS 'Consumer group.';
COMMENT ON COLUMN group_metrics.config_version IS 'Hash of the configuration that it was computed with.';
COMMENT ON COLUMN group_metrics.group_type IS 'Type of the group: classic, consumer (KIP-848), streams (KIP-1071), share or unknown.';
COMMENT ON COLUMN group_metrics.state IS 'State of the group as reported by the broker.';
COMMENT ON COLUMN group_metrics.assignor IS 'Name of the elected protocol or server-side assignor in the Kafka protocol.';
COMMENT ON COLUMN group_metrics.status IS 'Status of its worst partition, from best to worst: OK, UNKNOWN, WARN, STALL, STOP, REWIND.';
COMMENT ON COLUMN group_metrics.members IS 'Number of members.';
COMMENT ON COLUMN group_metrics.idle_members IS 'Number of members without a partition.';
COMMENT ON COLUMN group_metrics.partitions IS 'Number of partitions in the totals: subscribed ones, or committed ones if the group has no members.';
COMMENT ON COLUMN group_metrics.unowned_partitions IS 'Number of those without an owner.';
COMMENT ON COLUMN group_metrics.unsubscribed_partitions IS 'Number of partitions of topics without a subscriber.';
COMMENT ON COLUMN group_metrics.total_lag IS 'Lag of the group in offsets; null if the lag of a partition is unknown, or if it has no visible partition.';
COMMENT ON COLUMN group_metrics.unknown_lag_partitions IS 'Number of partitions whose lag is unknown.';
COMMENT ON COLUMN group_metrics.largest_partition_lag IS 'Largest known lag of a partition, in offsets.';
COMMENT ON COLUMN group_metrics.lost_records IS 'Number of offsets that retention deleted before the group consumed them, as far as known.';
COMMENT ON COLUMN group_metrics.production_per_second IS 'Incoming rate of its partitions, in offsets per second.';
COMMENT ON COLUMN group_metrics.consumption_per_second IS 'Committed offsets per second.';
COMMENT ON COLUMN group_metrics.time_lag_seconds IS 'Age of its oldest unconsumed record, in seconds.';
COMMENT ON COLUMN group_metrics.time_to_loss_seconds IS 'Seconds until retention deletes an unconsumed record.';
COMMENT ON COLUMN group_metrics.rates_since IS 'Start of the period of the rates.';
COMMENT ON COLUMN group_metrics.subscribed_topics IS 'Subscribed topics; during a rebalance the last known ones; null if unknown.';
COMMENT ON COLUMN group_metrics.error IS 'Read error, or reason why validation skipped the group; null if it has metrics.';
COMMENT ON COLUMN group_metrics.findings IS 'Findings.';
COMMENT ON COLUMN group_metrics.facts IS 'Findings as a list of {kind, measure, before, after, bound, ...}; query it by measure with @>.';
COMMENT ON COLUMN group_metrics.diagnosis IS 'Diagnosis: healthy, catching up, skewed load, slow member, no members, ... or unknown.';
COMMENT ON COLUMN group_metrics.diagnosis_reason IS 'Diagnosis with names and numbers; null if healthy.';
COMMENT ON COLUMN group_metrics.commit_interval_seconds IS 'Commit interval in seconds, learned or configured; null until a commit is observed.';
COMMENT ON COLUMN group_metrics.rebalance_seconds IS 'Pause of its partitions in a rebalance that revokes them, in seconds.';
COMMENT ON COLUMN group_metrics.rebalance_basis IS 'Source of this pause: configured, observed, at most, at least, as its client library, usual.';
COMMENT ON COLUMN group_metrics.rebalances_observed IS 'Number of intervals whose rebalances were observed; the pause is the median over the newest 15.';
COMMENT ON COLUMN group_metrics.restart_seconds IS 'Time that a member is away when it restarts, in seconds.';
COMMENT ON COLUMN group_metrics.restart_basis IS 'Source of this time, as of the pause.';
COMMENT ON COLUMN group_metrics.restarts_observed IS 'Number of intervals whose restarts were observed.';
COMMENT ON COLUMN group_metrics.client_library IS 'Client library of all members, configured or from client ids; null if unknown.';
COMMENT ON COLUMN group_metrics.pause_course IS 'Observed rebalances, restarts and restores; null without any.';
COMMENT ON COLUMN group_metrics.delay_seconds IS 'Time lag of its worst partition beyond the commit interval, in seconds; all of it without members or in a rebalance.';
COMMENT ON COLUMN group_metrics.commit_ages_seconds IS 'Commit age in seconds at each sample without backlog, as input of the forecast.';
COMMENT ON COLUMN group_metrics.assignment IS 'Fingerprint of the assignment, by identities of members; null during a rebalance.';
COMMENT ON COLUMN group_metrics.forecast_course IS 'State of its forecasts: factors of their width and forecasts that are not due yet; null without any.';
COMMENT ON COLUMN group_metrics.partition_spread IS 'Largest minus smallest number of partitions among members with the same subscription.';
COMMENT ON COLUMN group_metrics.balanced IS 'True if no member could take a partition from a member that has at least two more (KIP-54).';
COMMENT ON COLUMN group_metrics.most_partitions IS 'Largest number of partitions of a member.';
COMMENT ON COLUMN group_metrics.fewest_partitions IS 'Smallest number of partitions of a member.';
COMMENT ON COLUMN group_metrics.largest_member_lag IS 'Largest member lag in offsets; null if the lag of a partition is unknown.';
COMMENT ON COLUMN group_metrics.lag_skew IS 'Largest member lag divided by mean member lag; null if the total is 0 or unknown.';
COMMENT ON COLUMN group_metrics.lag_lower_bound IS 'Lower bound of the largest member lag over all assignments, in offsets.';
COMMENT ON COLUMN group_metrics.lag_lower_bound_equal_counts IS 'Lower bound of the largest member lag over all assignments with equal partition counts, in offsets.';
COMMENT ON COLUMN group_metrics.cross_rack_share IS 'Share of partitions whose owner''s rack has no replica, among those with known racks.';
COMMENT ON COLUMN group_metrics.cross_rack_rate_share IS 'Cross-rack share weighted by offsets per second; null if a rate is unknown or all are 0.';
COMMENT ON COLUMN group_metrics.cross_rack_in_sync_share IS 'Cross-rack share over in-sync replicas only.';
COMMENT ON COLUMN group_metrics.cross_leader_share IS 'Share of partitions whose leader is not in the rack of their owner.';
COMMENT ON COLUMN group_metrics.racks_left_out IS 'Number of owned partitions that the shares exclude because a rack is unknown.';
COMMENT ON COLUMN group_metrics.drain_seconds IS 'Seconds until the slowest member has caught up; Infinity if never.';
COMMENT ON COLUMN group_metrics.cross_rack_bytes_per_second IS 'Cross-rack bytes per second without backlog; null if a rate, a record size or follower fetching is unknown.';
COMMENT ON COLUMN group_metrics.cross_rack_cost_per_month IS 'Cost of the cross-rack traffic in 30 days at price_per_gb; null without a price, or if unknown.';
COMMENT ON COLUMN group_metrics.currency IS 'Currency of the cost, ISO 4217; null without a price.';
COMMENT ON COLUMN group_metrics.stores_in_one_rack IS 'Number of Kafka Streams stores with all copies in one rack; null if none is evaluated.';
COMMENT ON COLUMN group_metrics.stores_judged IS 'Number of stores with several copies, all in known racks; null without standbys.';
COMMENT ON COLUMN group_metrics.members_joined IS 'Number of members that joined since the previous stable snapshot; null without one.';
COMMENT ON COLUMN group_metrics.members_left IS 'Number of members that left since then.';
COMMENT ON COLUMN group_metrics.members_restarted IS 'Number of members that restarted (returned with another id) since then.';
COMMENT ON COLUMN group_metrics.partitions_moved IS 'Number of partitions that were reassigned by these changes; 0 if the members are the same.';
COMMENT ON COLUMN group_metrics.would_have_moved IS 'Moves with each strategy that a setting can deploy, if it had been in use: a list of {strategy, moves}.';

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
    utilization DOUBLE PRECISION,
    not_committing BOOLEAN,
    cross_rack_partitions INTEGER,
    CONSTRAINT member_metrics_pkey PRIMARY KEY (snapshot_id, group_id, member_id)
);

COMMENT ON TABLE member_metrics IS 'One row per member of a group and snapshot with its metrics.';
COMMENT ON COLUMN member_metrics.snapshot_id IS 'Id of the snapshot.';
COMMENT ON COLUMN member_metrics.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN member_metrics.group_id IS 'Consumer group.';
COMMENT ON COLUMN member_metrics.config_version IS 'Hash of the configuration that it was computed with.';
COMMENT ON COLUMN member_metrics.member_id IS 'Member id assigned by the coordinator; it changes when the member restarts.';
COMMENT ON COLUMN member_metrics.identity IS 'Identity that survives restarts: the instance id, otherwise client id and host.';
COMMENT ON COLUMN member_metrics.client_id IS 'Value of client.id.';
COMMENT ON COLUMN member_metrics.client_host IS 'Host of the member as seen by the broker.';
COMMENT ON COLUMN member_metrics.instance_id IS 'Value of group.instance.id; null for a dynamic member.';
COMMENT ON COLUMN member_metrics.rack IS 'Rack of the member; null if unknown.';
COMMENT ON COLUMN member_metrics.rack_source IS 'Source of the rack: subscription, describe or configured.';
COMMENT ON COLUMN member_metrics.partitions IS 'Number of assigned partitions.';
COMMENT ON COLUMN member_metrics.lag IS 'Lag of its partitions in offsets; null if the lag of one is unknown.';
COMMENT ON COLUMN member_metrics.production_per_second IS 'Incoming rate of its partitions, in offsets per second.';
COMMENT ON COLUMN member_metrics.consumption_per_second IS 'Committed offsets per second.';
COMMENT ON COLUMN member_metrics.capacity_per_second IS 'Capacity, in offsets per second.';
COMMENT ON COLUMN member_metrics.capacity_basis IS 'Source of the capacity: configured, saturated, at least, as its peers, unknown.';
COMMENT ON COLUMN member_metrics.utilization IS 'Incoming rate divided by capacity; above 1 the member falls behind; null if either is unknown.';
COMMENT ON COLUMN member_metrics.not_committing IS 'True if it has lag but no longer commits any of its partitions; null if unknown.';
COMMENT ON COLUMN member_metrics.cross_rack_partitions IS 'Number of its partitions without a replica in its rack.';

CREATE TABLE rebalance (
    snapshot_id TEXT NOT NULL,
    cluster TEXT NOT NULL,
    group_id TEXT NOT NULL,
    config_version TEXT NOT NULL,
    since TIMESTAMP WITH TIME ZONE NOT NULL,
    until TIMESTAMP WITH TIME ZONE NOT NULL,
    cause TEXT NOT NULL,
    rebalances INTEGER NOT NULL,
    counted_by_epoch BOOLEAN NOT NULL,
    unseen_rebalances INTEGER,
    joined TEXT[] NOT NULL,
    left_members TEXT[] NOT NULL,
    restarted TEXT[] NOT NULL,
    partitions_moved INTEGER,
    partition_seconds DOUBLE PRECISION NOT NULL,
    delayed_records DOUBLE PRECISION,
    pause_seconds DOUBLE PRECISION NOT NULL,
    pause_basis TEXT NOT NULL,
    with_remedy JSONB,
    facts JSONB NOT NULL,
    CONSTRAINT rebalance_pkey PRIMARY KEY (snapshot_id, group_id),
    CONSTRAINT rebalance_snapshot_fkey FOREIGN KEY(snapshot_id) REFERENCES snapshot (snapshot_id) ON DELETE CASCADE
);

CREATE INDEX rebalance_of_group ON rebalance (cluster, group_id, until);

COMMENT ON TABLE rebalance IS 'One row per group and snapshot if the group rebalanced since the previous snapshot: cause and cost.';
COMMENT ON COLUMN rebalance.snapshot_id IS 'Id of the snapshot.';
COMMENT ON COLUMN rebalance.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN rebalance.group_id IS 'Consumer group.';
COMMENT ON COLUMN rebalance.config_version IS 'Hash of the configuration that it was computed with.';
COMMENT ON COLUMN rebalance.since IS 'Start of the previous snapshot.';
COMMENT ON COLUMN rebalance.until IS 'Start of the snapshot.';
COMMENT ON COLUMN rebalance.cause IS 'Most specific cause: crash loop, scaler flapping, deploy, subscription changed, partitions added, coordinator moved, poll timeout, session timeout, member restarted, members added, members removed or unknown.';
COMMENT ON COLUMN rebalance.rebalances IS 'Number of rebalances, at least; 0 if static members restarted without one.';
COMMENT ON COLUMN rebalance.counted_by_epoch IS 'True if group epochs or generations count them; otherwise each dynamic member that joined or left counts.';
COMMENT ON COLUMN rebalance.unseen_rebalances IS 'Number of those that left no trace in the members; null if unknown.';
COMMENT ON COLUMN rebalance.joined IS 'Identities that joined, at most 20.';
COMMENT ON COLUMN rebalance.left_members IS 'Identities that left, at most 20.';
COMMENT ON COLUMN rebalance.restarted IS 'Identities that restarted, at most 20.';
COMMENT ON COLUMN rebalance.partitions_moved IS 'Number of reassigned partitions; null while the group is rebalancing.';
COMMENT ON COLUMN rebalance.partition_seconds IS 'Partition-seconds without consumption.';
COMMENT ON COLUMN rebalance.delayed_records IS 'Records that arrived meanwhile; null if the incoming rate is unknown.';
COMMENT ON COLUMN rebalance.pause_seconds IS 'Pause of a partition whose member left, in one rebalance.';
COMMENT ON COLUMN rebalance.pause_basis IS 'Source of this pause: configured, observed, at most, at least, as its client library, usual (estimated from heartbeats).';
COMMENT ON COLUMN rebalance.with_remedy IS 'The same with other settings: a list of {remedy, partition_seconds, delayed_records}.';
COMMENT ON COLUMN rebalance.facts IS 'Evidence, as in group_metrics.';

CREATE TABLE partition_block (
    snapshot_id TEXT NOT NULL,
    cluster TEXT NOT NULL,
    group_id TEXT NOT NULL,
    config_version TEXT NOT NULL,
    topic TEXT NOT NULL,
    first_partition INTEGER NOT NULL,
    words TEXT[] NOT NULL,
    topic_id SMALLINT[] NOT NULL,
    partition INTEGER[] NOT NULL,
    subscribed BOOLEAN[] NOT NULL,
    begin_offset BIGINT[] NOT NULL,
    end_offset BIGINT[] NOT NULL,
    committed_offset BIGINT[] NOT NULL,
    lag BIGINT[] NOT NULL,
    lag_basis SMALLINT[] NOT NULL,
    lost_records BIGINT[] NOT NULL,
    production_per_second DOUBLE PRECISION[] NOT NULL,
    consumption_per_second DOUBLE PRECISION[] NOT NULL,
    time_lag_seconds DOUBLE PRECISION[] NOT NULL,
    time_lag_basis SMALLINT[] NOT NULL,
    time_to_loss_seconds DOUBLE PRECISION[] NOT NULL,
    status SMALLINT[] NOT NULL,
    member_id SMALLINT[] NOT NULL,
    cross_rack BOOLEAN[] NOT NULL,
    committed_at TIMESTAMP WITH TIME ZONE[] NOT NULL,
    end_at TIMESTAMP WITH TIME ZONE[] NOT NULL,
    counted BOOLEAN[] NOT NULL,
    lag_for_strategies BIGINT[] NOT NULL,
    production_deviation_per_second DOUBLE PRECISION[] NOT NULL,
    consumption_deviation_per_second DOUBLE PRECISION[] NOT NULL,
    bytes_per_record DOUBLE PRECISION[] NOT NULL,
    bytes_per_record_basis SMALLINT[] NOT NULL,
    CONSTRAINT partition_block_pkey PRIMARY KEY (snapshot_id, group_id, topic, first_partition)
)
 WITH (toast_tuple_target = 8160);

COMMENT ON TABLE partition_block IS 'One row per up to 32 partitions of a topic of a group, as arrays, for the view partition_latest.';
COMMENT ON COLUMN partition_block.snapshot_id IS 'Id of the snapshot.';
COMMENT ON COLUMN partition_block.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN partition_block.group_id IS 'Consumer group.';
COMMENT ON COLUMN partition_block.config_version IS 'Hash of the configuration that it was computed with.';
COMMENT ON COLUMN partition_block.topic IS 'Name of the topic.';
COMMENT ON COLUMN partition_block.first_partition IS 'Number of the first of its partitions.';
COMMENT ON COLUMN partition_block.words IS 'The different texts of its partitions; a column of texts has their places, from 1.';
COMMENT ON COLUMN partition_block.topic_id IS 'Id of the topic; a topic that is deleted and recreated gets a new id.';
COMMENT ON COLUMN partition_block.partition IS 'Number of the partition in its topic.';
COMMENT ON COLUMN partition_block.subscribed IS 'True if a member subscribes to the topic; null if unknown, as during a rebalance.';
COMMENT ON COLUMN partition_block.begin_offset IS 'Log start offset.';
COMMENT ON COLUMN partition_block.end_offset IS 'High watermark, or the last stable offset for a group with isolation.level=read_committed.';
COMMENT ON COLUMN partition_block.committed_offset IS 'Committed offset, for a share group the start offset; null if there is none.';
COMMENT ON COLUMN partition_block.lag IS 'Lag in offsets, from the committed offset to the end offset; null if unknown.';
COMMENT ON COLUMN partition_block.lag_basis IS 'Basis of the lag: the case of its definition that applies.';
COMMENT ON COLUMN partition_block.lost_records IS 'Number of offsets that retention deleted before the group consumed them.';
COMMENT ON COLUMN partition_block.production_per_second IS 'Incoming rate, in offsets per second.';
COMMENT ON COLUMN partition_block.consumption_per_second IS 'Committed offsets per second.';
COMMENT ON COLUMN partition_block.time_lag_seconds IS 'Age of the record at the committed offset, in seconds.';
COMMENT ON COLUMN partition_block.time_lag_basis IS 'Source of that age.';
COMMENT ON COLUMN partition_block.time_to_loss_seconds IS 'Seconds until the log start reaches the committed offset.';
COMMENT ON COLUMN partition_block.status IS 'Status, from best to worst: OK, UNKNOWN, WARN, STALL, STOP, REWIND.';
COMMENT ON COLUMN partition_block.member_id IS 'Id of its owner; null if it has none.';
COMMENT ON COLUMN partition_block.cross_rack IS 'True if the rack of its owner has no replica; null if a rack is unknown.';
COMMENT ON COLUMN partition_block.committed_at IS 'Time when the committed offset was read.';
COMMENT ON COLUMN partition_block.end_at IS 'Time when the end offset was read.';
COMMENT ON COLUMN partition_block.counted IS 'True if it is part of the totals of the group.';
COMMENT ON COLUMN partition_block.lag_for_strategies IS 'Lag that strategies use; without a commit, the lag of the configured reset, otherwise 0 (KIP-169).';
COMMENT ON COLUMN partition_block.production_deviation_per_second IS 'Standard deviation of the incoming rate between snapshots; null with fewer than two intervals.';
COMMENT ON COLUMN partition_block.consumption_deviation_per_second IS 'Standard deviation of the commit rate between snapshots; null with fewer than two intervals.';
COMMENT ON COLUMN partition_block.bytes_per_record IS 'Average compressed size of a record in bytes; null if unknown.';
COMMENT ON COLUMN partition_block.bytes_per_record_basis IS 'Source of that size: log directory, other partitions of the topic, configured, unknown.';

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
    CONSTRAINT partition_worst_pkey PRIMARY KEY (snapshot_id, group_id, topic, partition)
);

COMMENT ON TABLE partition_worst IS 'One row per group, snapshot and partition, for the 20 partitions of the group with the largest lag.';
COMMENT ON COLUMN partition_worst.snapshot_id IS 'Id of the snapshot.';
COMMENT ON COLUMN partition_worst.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN partition_worst.group_id IS 'Consumer group.';
COMMENT ON COLUMN partition_worst.config_version IS 'Hash of the configuration that it was computed with.';
COMMENT ON COLUMN partition_worst.topic IS 'Name of the topic.';
COMMENT ON COLUMN partition_worst.topic_id IS 'Id of the topic; a topic that is deleted and recreated gets a new id.';
COMMENT ON COLUMN partition_worst.partition IS 'Number of the partition in its topic.';
COMMENT ON COLUMN partition_worst.subscribed IS 'True if a member subscribes to the topic; null if unknown, as during a rebalance.';
COMMENT ON COLUMN partition_worst.begin_offset IS 'Log start offset.';
COMMENT ON COLUMN partition_worst.end_offset IS 'High watermark, or the last stable offset for a group with isolation.level=read_committed.';
COMMENT ON COLUMN partition_worst.committed_offset IS 'Committed offset, for a share group the start offset; null if there is none.';
COMMENT ON COLUMN partition_worst.lag IS 'Lag in offsets, from the committed offset to the end offset; null if unknown.';
COMMENT ON COLUMN partition_worst.lag_basis IS 'Basis of the lag: the case of its definition that applies.';
COMMENT ON COLUMN partition_worst.lost_records IS 'Number of offsets that retention deleted before the group consumed them.';
COMMENT ON COLUMN partition_worst.production_per_second IS 'Incoming rate, in offsets per second.';
COMMENT ON COLUMN partition_worst.consumption_per_second IS 'Committed offsets per second.';
COMMENT ON COLUMN partition_worst.time_lag_seconds IS 'Age of the record at the committed offset, in seconds.';
COMMENT ON COLUMN partition_worst.time_lag_basis IS 'Source of that age.';
COMMENT ON COLUMN partition_worst.time_to_loss_seconds IS 'Seconds until the log start reaches the committed offset.';
COMMENT ON COLUMN partition_worst.status IS 'Status, from best to worst: OK, UNKNOWN, WARN, STALL, STOP, REWIND.';
COMMENT ON COLUMN partition_worst.member_id IS 'Id of its owner; null if it has none.';
COMMENT ON COLUMN partition_worst.cross_rack IS 'True if the rack of its owner has no replica; null if a rack is unknown.';
COMMENT ON COLUMN partition_worst.committed_at IS 'Time when the committed offset was read.';
COMMENT ON COLUMN partition_worst.end_at IS 'Time when the end offset was read.';
COMMENT ON COLUMN partition_worst.counted IS 'True if it is part of the totals of the group.';
COMMENT ON COLUMN partition_worst.lag_for_strategies IS 'Lag that strategies use; without a commit, the lag of the configured reset, otherwise 0 (KIP-169).';
COMMENT ON COLUMN partition_worst.production_deviation_per_second IS 'Standard deviation of the incoming rate between snapshots; null with fewer than two intervals.';
COMMENT ON COLUMN partition_worst.consumption_deviation_per_second IS 'Standard deviation of the commit rate between snapshots; null with fewer than two intervals.';
COMMENT ON COLUMN partition_worst.bytes_per_record IS 'Average compressed size of a record in bytes; null if unknown.';
COMMENT ON COLUMN partition_worst.bytes_per_record_basis IS 'Source of that size: log directory, other partitions of the topic, configured, unknown.';
COMMENT ON COLUMN partition_worst.place IS 'Rank of its lag in the group, from 1 (largest) to 20; unknown lag ranks last.';

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
    forecast_utilization_low DOUBLE PRECISION,
    forecast_utilization_expected DOUBLE PRECISION,
    forecast_utilization_high DOUBLE PRECISION,
    forecast_lag_integral_low DOUBLE PRECISION,
    forecast_lag_integral_expected DOUBLE PRECISION,
    forecast_lag_integral_high DOUBLE PRECISION,
    overload_per_second DOUBLE PRECISION,
    forecast_gain_low DOUBLE PRECISION,
    forecast_gain_expected DOUBLE PRECISION,
    forecast_gain_high DOUBLE PRECISION,
    price_restarts INTEGER,
    price_held_up_offsets DOUBLE PRECISION,
    price_offset_seconds DOUBLE PRECISION,
    CONSTRAINT candidate_pkey PRIMARY KEY (snapshot_id, group_id, strategy)
);

COMMENT ON TABLE candidate IS 'One row per group and strategy with its score, or the reason why it has none. Only groups that passed validation.';
COMMENT ON COLUMN candidate.snapshot_id IS 'Id of the snapshot.';
COMMENT ON COLUMN candidate.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN candidate.group_id IS 'Consumer group.';
COMMENT ON COLUMN candidate.config_version IS 'Hash of the configuration that it was computed with.';
COMMENT ON COLUMN candidate.strategy IS 'Name of the strategy; "live" is the current assignment.';
COMMENT ON COLUMN candidate.position IS 'Position of the strategy in the table of strategies, from 0.';
COMMENT ON COLUMN candidate.deployment IS 'How it is deployed: setting, class, plan, baseline, never advised, already there.';
COMMENT ON COLUMN candidate.feasibility IS 'Availability for this group: available, needs restart, not deployable here, not applicable.';
COMMENT ON COLUMN candidate.reason IS 'Reason for that availability.';
COMMENT ON COLUMN candidate.is_running IS 'True if the group seems to run it (Streams: if it gives the current assignment); null if unknown.';
COMMENT ON COLUMN candidate.how IS 'Steps that deploy it on this group.';
COMMENT ON COLUMN candidate.replay IS 'Starts with "next rebalance" if members report their partitions, else with "fresh assignment"; null without score.';
COMMENT ON COLUMN candidate.partition_spread IS 'Largest minus smallest number of partitions among members with the same subscription.';
COMMENT ON COLUMN candidate.balanced IS 'True if no member could take a partition from a member that has at least two more (KIP-54).';
COMMENT ON COLUMN candidate.most_partitions IS 'Largest number of partitions of a member.';
COMMENT ON COLUMN candidate.fewest_partitions IS 'Smallest number of partitions of a member.';
COMMENT ON COLUMN candidate.largest_member_lag IS 'Largest member lag in offsets; null if the lag of a partition is unknown.';
COMMENT ON COLUMN candidate.lag_skew IS 'Largest member lag divided by mean member lag; null if the total is 0 or unknown.';
COMMENT ON COLUMN candidate.lag_lower_bound IS 'Lower bound of the largest member lag over all assignments, in offsets.';
COMMENT ON COLUMN candidate.lag_lower_bound_equal_counts IS 'Lower bound of the largest member lag over all assignments with equal partition counts, in offsets.';
COMMENT ON COLUMN candidate.cross_rack_share IS 'Share of partitions whose owner''s rack has no replica, among those with known racks.';
COMMENT ON COLUMN candidate.cross_rack_rate_share IS 'Cross-rack share weighted by offsets per second; null if a rate is unknown or all are 0.';
COMMENT ON COLUMN candidate.cross_rack_in_sync_share IS 'Cross-rack share over in-sync replicas only.';
COMMENT ON COLUMN candidate.cross_leader_share IS 'Share of partitions whose leader is not in the rack of their owner.';
COMMENT ON COLUMN candidate.racks_left_out IS 'Number of owned partitions that the shares exclude because a rack is unknown.';
COMMENT ON COLUMN candidate.drain_seconds IS 'Seconds until the slowest member has caught up; Infinity if never.';
COMMENT ON COLUMN candidate.cross_rack_bytes_per_second IS 'Cross-rack bytes per second without backlog; null if a rate, a record size or follower fetching is unknown.';
COMMENT ON COLUMN candidate.cross_rack_cost_per_month IS 'Cost of the cross-rack traffic in 30 days at price_per_gb; null without a price, or if unknown.';
COMMENT ON COLUMN candidate.currency IS 'Currency of the cost, ISO 4217; null without a price.';
COMMENT ON COLUMN candidate.stores_in_one_rack IS 'Number of Kafka Streams stores with all copies in one rack; null if none is evaluated.';
COMMENT ON COLUMN candidate.stores_judged IS 'Number of stores with several copies, all in known racks; null without standbys.';
COMMENT ON COLUMN candidate.moves IS 'Number of partitions that are reassigned.';
COMMENT ON COLUMN candidate.newly_owned IS 'Number of unowned partitions that get an owner.';
COMMENT ON COLUMN candidate.unowned IS 'Number of partitions without an owner; null without an assignment.';
COMMENT ON COLUMN candidate.findings IS 'Problems of the assignment; for the live one, findings about its racks.';
COMMENT ON COLUMN candidate.notes IS 'Notes, such as assumptions for unknown values and tags that contradict racks.';
COMMENT ON COLUMN candidate.proof IS 'Proven quality: "exact", or the largest distance from its lower bound; null without a proof.';
COMMENT ON COLUMN candidate.facts IS 'Reason, how, findings, notes, proof and replay as a list of {kind, measure, ...}; query it with @>.';
COMMENT ON COLUMN candidate.leave_moves_mean IS 'Number of partitions that are reassigned if one member leaves, including its own: mean over the simulated members.';
COMMENT ON COLUMN candidate.leave_moves_of_others_mean IS 'Mean number of those that another member owned; 0 if only the partitions of the leaving member move.';
COMMENT ON COLUMN candidate.leave_moves_worst IS 'Number of partitions that are reassigned if one member leaves: maximum over the simulated members.';
COMMENT ON COLUMN candidate.join_moves IS 'Number of partitions that are reassigned if a member joins that is like the first simulated one.';
COMMENT ON COLUMN candidate.restart_moves IS 'Number of partitions that a rolling restart reassigns in total, extrapolated from the simulated members.';
COMMENT ON COLUMN candidate.members_tried IS 'Number of members whose leave was simulated: at most three, fewer with many partitions.';
COMMENT ON COLUMN candidate.forecast_soon_lag_low IS 'Forecast, p10: lag in 15 minutes.';
COMMENT ON COLUMN candidate.forecast_soon_lag_expected IS 'Forecast, p50: lag in 15 minutes.';
COMMENT ON COLUMN candidate.forecast_soon_lag_high IS 'Forecast, p90: lag in 15 minutes.';
COMMENT ON COLUMN candidate.forecast_lag_low IS 'Forecast, p10: lag in one hour.';
COMMENT ON COLUMN candidate.forecast_lag_expected IS 'Forecast, p50: lag in one hour.';
COMMENT ON COLUMN candidate.forecast_lag_high IS 'Forecast, p90: lag in one hour.';
COMMENT ON COLUMN candidate.forecast_delay_seconds_low IS 'Forecast, p10: time lag of the last member in one hour, beyond the commit interval.';
COMMENT ON COLUMN candidate.forecast_delay_seconds_expected IS 'Forecast, p50: time lag of the last member in one hour, beyond the commit interval.';
COMMENT ON COLUMN candidate.forecast_delay_seconds_high IS 'Forecast, p90: time lag of the last member in one hour, beyond the commit interval.';
COMMENT ON COLUMN candidate.forecast_drained_seconds_low IS 'Forecast, p10: time until no member has a backlog; Infinity if not within one hour, null if a member with a backlog has no known capacity.';
COMMENT ON COLUMN candidate.forecast_drained_seconds_expected IS 'Forecast, p50: time until no member has a backlog; Infinity if not within one hour, null if a member with a backlog has no known capacity.';
COMMENT ON COLUMN candidate.forecast_drained_seconds_high IS 'Forecast, p90: time until no member has a backlog; Infinity if not within one hour, null if a member with a backlog has no known capacity.';
COMMENT ON COLUMN candidate.forecast_utilization_low IS 'Forecast, p10: incoming rate divided by capacity of the busiest member, over the next hour.';
COMMENT ON COLUMN candidate.forecast_utilization_expected IS 'Forecast, p50: incoming rate divided by capacity of the busiest member, over the next hour.';
COMMENT ON COLUMN candidate.forecast_utilization_high IS 'Forecast, p90: incoming rate divided by capacity of the busiest member, over the next hour.';
COMMENT ON COLUMN candidate.forecast_lag_integral_low IS 'Forecast, p10: lag integrated over the seconds of the next hour.';
COMMENT ON COLUMN candidate.forecast_lag_integral_expected IS 'Forecast, p50: lag integrated over the seconds of the next hour.';
COMMENT ON COLUMN candidate.forecast_lag_integral_high IS 'Forecast, p90: lag integrated over the seconds of the next hour.';
COMMENT ON COLUMN candidate.overload_per_second IS 'Offsets per second that arrived since the snapshot before beyond the capacity of their members.';
COMMENT ON COLUMN candidate.forecast_gain_low IS 'Forecast, p10: reduction of the lag integral of the next hour by the switch, restarts included, compared future by future; null for the current assignment.';
COMMENT ON COLUMN candidate.forecast_gain_expected IS 'Forecast, p50: reduction of the lag integral of the next hour by the switch, restarts included, compared future by future; null for the current assignment.';
COMMENT ON COLUMN candidate.forecast_gain_high IS 'Forecast, p90: reduction of the lag integral of the next hour by the switch, restarts included, compared future by future; null for the current assignment.';
COMMENT ON COLUMN candidate.price_restarts IS 'Number of member restarts that the switch needs; null if it needs none.';
COMMENT ON COLUMN candidate.price_held_up_offsets IS 'Number of offsets that the restarts delay; null if the switch needs none.';
COMMENT ON COLUMN candidate.price_offset_seconds IS 'Increase of the p50 lag integral of the next hour by the restarts; null if the switch needs none.';

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

COMMENT ON TABLE candidate_sample IS 'One row per group and snapshot with the figures of all strategies. Deleted an hour after its hour is rolled up.';
COMMENT ON COLUMN candidate_sample.snapshot_id IS 'Id of the snapshot.';
COMMENT ON COLUMN candidate_sample.group_id IS 'Consumer group.';
COMMENT ON COLUMN candidate_sample.strategies IS 'Names of the strategies with a score, including "live" (the current assignment).';
COMMENT ON COLUMN candidate_sample.runnable IS 'True if the strategy could be deployed on the group. A value for each strategy.';
COMMENT ON COLUMN candidate_sample.member_lag IS 'Largest member lag with its assignment, in offsets. A value for each strategy.';
COMMENT ON COLUMN candidate_sample.forecast_lag IS 'Lag forecast for one hour ahead, in offsets; null without a forecast. A value for each strategy.';
COMMENT ON COLUMN candidate_sample.cross_rack_share IS 'Share of partitions whose owner''s rack has no replica; null if racks are unknown. A value for each strategy.';
COMMENT ON COLUMN candidate_sample.cross_rack_bytes_per_second IS 'Cross-rack bytes per second without backlog. A value for each strategy.';
COMMENT ON COLUMN candidate_sample.moves IS 'Number of partitions (Streams: tasks) that it would have moved. A value for each strategy.';

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

COMMENT ON TABLE candidate_hour IS 'One row per group and hour (UTC) with the figures of all strategies. Medians are those of its snapshots.';
COMMENT ON COLUMN candidate_hour.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN candidate_hour.group_id IS 'Consumer group.';
COMMENT ON COLUMN candidate_hour.since IS 'Start of the hour.';
COMMENT ON COLUMN candidate_hour.strategies IS 'Names of the strategies with a score, including "live" (the current assignment).';
COMMENT ON COLUMN candidate_hour.snapshots IS 'Number of snapshots with a score. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.runnable_snapshots IS 'Number of those in which it could be deployed on the group. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.best_member_lag IS 'Largest member lag with its assignment, in offsets: minimum. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.median_member_lag IS 'Largest member lag with its assignment, in offsets: median. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.worst_member_lag IS 'Largest member lag with its assignment, in offsets: maximum. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.best_forecast_lag IS 'Lag forecast for one hour ahead, in offsets; null without a forecast: minimum. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.median_forecast_lag IS 'Lag forecast for one hour ahead, in offsets; null without a forecast: median. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.worst_forecast_lag IS 'Lag forecast for one hour ahead, in offsets; null without a forecast: maximum. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.best_cross_rack_share IS 'Share of partitions whose owner''s rack has no replica; null if racks are unknown: minimum. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.median_cross_rack_share IS 'Share of partitions whose owner''s rack has no replica; null if racks are unknown: median. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.worst_cross_rack_share IS 'Share of partitions whose owner''s rack has no replica; null if racks are unknown: maximum. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.cross_rack_bytes_per_second IS 'Cross-rack bytes per second without backlog: mean of the known values. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.best_moves IS 'Number of partitions (Streams: tasks) that it would have moved: minimum. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.median_moves IS 'Number of partitions (Streams: tasks) that it would have moved: median. A value for each strategy.';
COMMENT ON COLUMN candidate_hour.worst_moves IS 'Number of partitions (Streams: tasks) that it would have moved: maximum. A value for each strategy.';

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

COMMENT ON TABLE candidate_day IS 'One row per group and day (UTC) with the figures of all strategies. Medians are those of the hourly medians.';
COMMENT ON COLUMN candidate_day.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN candidate_day.group_id IS 'Consumer group.';
COMMENT ON COLUMN candidate_day.since IS 'Start of the day.';
COMMENT ON COLUMN candidate_day.strategies IS 'Names of the strategies with a score, including "live" (the current assignment).';
COMMENT ON COLUMN candidate_day.snapshots IS 'Number of snapshots with a score. A value for each strategy.';
COMMENT ON COLUMN candidate_day.runnable_snapshots IS 'Number of those in which it could be deployed on the group. A value for each strategy.';
COMMENT ON COLUMN candidate_day.best_member_lag IS 'Largest member lag with its assignment, in offsets: minimum. A value for each strategy.';
COMMENT ON COLUMN candidate_day.median_member_lag IS 'Largest member lag with its assignment, in offsets: median. A value for each strategy.';
COMMENT ON COLUMN candidate_day.worst_member_lag IS 'Largest member lag with its assignment, in offsets: maximum. A value for each strategy.';
COMMENT ON COLUMN candidate_day.best_forecast_lag IS 'Lag forecast for one hour ahead, in offsets; null without a forecast: minimum. A value for each strategy.';
COMMENT ON COLUMN candidate_day.median_forecast_lag IS 'Lag forecast for one hour ahead, in offsets; null without a forecast: median. A value for each strategy.';
COMMENT ON COLUMN candidate_day.worst_forecast_lag IS 'Lag forecast for one hour ahead, in offsets; null without a forecast: maximum. A value for each strategy.';
COMMENT ON COLUMN candidate_day.best_cross_rack_share IS 'Share of partitions whose owner''s rack has no replica; null if racks are unknown: minimum. A value for each strategy.';
COMMENT ON COLUMN candidate_day.median_cross_rack_share IS 'Share of partitions whose owner''s rack has no replica; null if racks are unknown: median. A value for each strategy.';
COMMENT ON COLUMN candidate_day.worst_cross_rack_share IS 'Share of partitions whose owner''s rack has no replica; null if racks are unknown: maximum. A value for each strategy.';
COMMENT ON COLUMN candidate_day.cross_rack_bytes_per_second IS 'Cross-rack bytes per second without backlog: mean of the known values. A value for each strategy.';
COMMENT ON COLUMN candidate_day.best_moves IS 'Number of partitions (Streams: tasks) that it would have moved: minimum. A value for each strategy.';
COMMENT ON COLUMN candidate_day.median_moves IS 'Number of partitions (Streams: tasks) that it would have moved: median. A value for each strategy.';
COMMENT ON COLUMN candidate_day.worst_moves IS 'Number of partitions (Streams: tasks) that it would have moved: maximum. A value for each strategy.';

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

COMMENT ON TABLE advice IS 'One row per advice for a group, including "stay". Unchanged advice is kept only for the newest snapshots.';
COMMENT ON COLUMN advice.advice_id IS 'Number of the advice.';
COMMENT ON COLUMN advice.snapshot_id IS 'Id of the snapshot.';
COMMENT ON COLUMN advice.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN advice.group_id IS 'Consumer group.';
COMMENT ON COLUMN advice.config_version IS 'Hash of the configuration that it was computed with.';
COMMENT ON COLUMN advice.verdict IS 'Verdict: switch, stay or not evaluated.';
COMMENT ON COLUMN advice.strategy IS 'Winning strategy; null if there is none.';
COMMENT ON COLUMN advice.reason IS 'Reason.';
COMMENT ON COLUMN advice.how IS 'Steps that deploy the strategy.';
COMMENT ON COLUMN advice.best_undeployable IS 'Best strategy that cannot be deployed on this group.';
COMMENT ON COLUMN advice.best_undeployable_reason IS 'Gain of that strategy, and the reason that it cannot be deployed.';
COMMENT ON COLUMN advice.seen IS 'Number of snapshots in which the strategy would help, since it began to.';
COMMENT ON COLUMN advice.facts IS 'Reason as a list of {kind, measure, ...} (kinds gain, loss, reason ...); query it with @>.';
COMMENT ON COLUMN advice.best_undeployable_facts IS 'Gain of that strategy, in the same form.';
COMMENT ON COLUMN advice.state IS 'State of its newest advice: proposed, confirmed, adopted, verified, missed, withdrawn, expired.';
COMMENT ON COLUMN advice.state_since IS 'Start of that state.';
COMMENT ON COLUMN advice.course IS 'State of the advice lifecycle that the next snapshot continues, as JSON; null if there is none.';
COMMENT ON COLUMN advice.owner IS 'Owner of the group at that time; null if none was configured.';
COMMENT ON COLUMN advice.created_at IS 'Time of the decision.';
COMMENT ON COLUMN advice.since IS 'Time of the first consecutive snapshot with this verdict, strategy and state.';
COMMENT ON COLUMN advice.until IS 'Time of the first snapshot with different advice; null if there is none, or if the row repeats another.';
COMMENT ON COLUMN advice.repeats IS 'True if the advice before it was the same; such a row is deleted after some hours.';

CREATE TABLE advice_move (
    advice_id BIGINT NOT NULL,
    topic TEXT NOT NULL,
    partition INTEGER NOT NULL,
    from_member TEXT,
    to_member TEXT,
    CONSTRAINT advice_move_pkey PRIMARY KEY (advice_id, topic, partition),
    CONSTRAINT advice_move_advice_fkey FOREIGN KEY(advice_id) REFERENCES advice (advice_id) ON DELETE CASCADE
);

COMMENT ON TABLE advice_move IS 'One row per partition that is reassigned by an advice.';
COMMENT ON COLUMN advice_move.advice_id IS 'Number of the advice.';
COMMENT ON COLUMN advice_move.topic IS 'Name of the topic.';
COMMENT ON COLUMN advice_move.partition IS 'Number of the partition in its topic.';
COMMENT ON COLUMN advice_move.from_member IS 'Id of the current owner; null if there is none.';
COMMENT ON COLUMN advice_move.to_member IS 'Id of the next owner; null if there is none.';

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

COMMENT ON TABLE advice_event IS 'One row per state change of an advice. A group has at most one per snapshot, or two (adopted and verified).';
COMMENT ON COLUMN advice_event.advice_id IS 'Number of the advice that was stored with it.';
COMMENT ON COLUMN advice_event.at IS 'Start of the snapshot.';
COMMENT ON COLUMN advice_event.strategy IS 'Advised strategy.';
COMMENT ON COLUMN advice_event.state IS 'New state: proposed, confirmed, adopted, verified, missed, withdrawn or expired.';
COMMENT ON COLUMN advice_event.facts IS 'Reason as a list of {kind, measure, ...}.';
COMMENT ON COLUMN advice_event.diagnosis IS 'Diagnosis of the group at that time.';
COMMENT ON COLUMN advice_event.cause IS 'Reason as text.';

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
    actual DOUBLE PRECISION,
    if_stayed_low DOUBLE PRECISION,
    if_stayed DOUBLE PRECISION,
    if_stayed_high DOUBLE PRECISION,
    saved_low DOUBLE PRECISION,
    saved DOUBLE PRECISION,
    saved_high DOUBLE PRECISION,
    CONSTRAINT advice_check_pkey PRIMARY KEY (advice_id, after_seconds, measure),
    CONSTRAINT advice_check_advice_fkey FOREIGN KEY(advice_id) REFERENCES advice (advice_id) ON DELETE CASCADE
);

COMMENT ON TABLE advice_check IS 'One row per forecast value of an adopted advice, with the actual value after the same time.';
COMMENT ON COLUMN advice_check.advice_id IS 'Number of the advice that was stored with it.';
COMMENT ON COLUMN advice_check.after_seconds IS 'Seconds from adoption to the check, or 0 for an immediate check; one day uses the forecast for one hour.';
COMMENT ON COLUMN advice_check.measure IS 'Forecast measure: lag, delay_seconds, utilization (of the busiest member) or cross_rack_share.';
COMMENT ON COLUMN advice_check.unit IS 'Unit of the values: offsets, s, ratio or share.';
COMMENT ON COLUMN advice_check.low IS 'Forecast, p10.';
COMMENT ON COLUMN advice_check.expected IS 'Forecast, p50.';
COMMENT ON COLUMN advice_check.high IS 'Forecast, p90.';
COMMENT ON COLUMN advice_check.strategy IS 'Adopted strategy.';
COMMENT ON COLUMN advice_check.adopted_at IS 'Time of the adoption.';
COMMENT ON COLUMN advice_check.actual IS 'Actual value; null if no snapshot has it, or if the assignment changed before.';
COMMENT ON COLUMN advice_check.if_stayed_low IS 'Value with the assignment before, replayed with the records that arrived: lower end; null if unknown.';
COMMENT ON COLUMN advice_check.if_stayed IS 'The same, expected; null if a member would have received more than it is known to process.';
COMMENT ON COLUMN advice_check.if_stayed_high IS 'The same, upper end.';
COMMENT ON COLUMN advice_check.saved_low IS 'Lag saved since the switch began, cost included: lower end; null if unknown, or for other measures.';
COMMENT ON COLUMN advice_check.saved IS 'The same, expected; null as above.';
COMMENT ON COLUMN advice_check.saved_high IS 'The same, upper end.';

CREATE TABLE advice_regret (
    advice_id BIGINT NOT NULL,
    since TIMESTAMP WITH TIME ZONE NOT NULL,
    until TIMESTAMP WITH TIME ZONE NOT NULL,
    strategy TEXT NOT NULL,
    state TEXT,
    came DOUBLE PRECISION NOT NULL,
    saved_low DOUBLE PRECISION NOT NULL,
    saved DOUBLE PRECISION,
    saved_high DOUBLE PRECISION NOT NULL,
    CONSTRAINT advice_regret_pkey PRIMARY KEY (advice_id, since),
    CONSTRAINT advice_regret_advice_fkey FOREIGN KEY(advice_id) REFERENCES advice (advice_id) ON DELETE CASCADE
);

COMMENT ON TABLE advice_regret IS 'One row per hour in which a deployable strategy was forecast to help a group, with what it would have saved.';
COMMENT ON COLUMN advice_regret.advice_id IS 'Number of the advice that was stored with it.';
COMMENT ON COLUMN advice_regret.since IS 'Start of the period.';
COMMENT ON COLUMN advice_regret.until IS 'End of the period, about an hour later.';
COMMENT ON COLUMN advice_regret.strategy IS 'Deployable strategy with the best forecast at the start.';
COMMENT ON COLUMN advice_regret.state IS 'State of the newest advice at the start: confirmed if it was advised to switch; null if there was none.';
COMMENT ON COLUMN advice_regret.came IS 'Actual backlog over the period.';
COMMENT ON COLUMN advice_regret.saved_low IS 'What the strategy would have saved of it, cost included: lower end.';
COMMENT ON COLUMN advice_regret.saved IS 'The same, expected; null if a member would have received more than it is known to process.';
COMMENT ON COLUMN advice_regret.saved_high IS 'The same, upper end.';

CREATE TABLE ledger (
    cluster TEXT NOT NULL,
    snapshot_id TEXT NOT NULL,
    taken_at TIMESTAMP WITH TIME ZONE NOT NULL,
    groups INTEGER NOT NULL,
    digest TEXT NOT NULL,
    lasting_groups INTEGER NOT NULL,
    lasting_digest TEXT NOT NULL,
    number BIGINT NOT NULL,
    written_at TIMESTAMP WITH TIME ZONE NOT NULL,
    previous TEXT,
    hash TEXT NOT NULL,
    CONSTRAINT ledger_pkey PRIMARY KEY (cluster, number),
    CONSTRAINT ledger_snapshot_key UNIQUE (snapshot_id)
);

COMMENT ON TABLE ledger IS 'One row per snapshot with advice, in the order of storing; never changed or deleted.';
COMMENT ON COLUMN ledger.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN ledger.snapshot_id IS 'Id of the snapshot, which may be deleted by now.';
COMMENT ON COLUMN ledger.taken_at IS 'Start of the snapshot.';
COMMENT ON COLUMN ledger.groups IS 'Number of groups with advice.';
COMMENT ON COLUMN ledger.digest IS 'SHA-256 of the advice for all groups.';
COMMENT ON COLUMN ledger.lasting_groups IS 'Number of groups whose advice changed or had an outcome; other advice is deleted after some hours.';
COMMENT ON COLUMN ledger.lasting_digest IS 'SHA-256 of the advice for these groups.';
COMMENT ON COLUMN ledger.number IS 'Number of the row in its cluster, from 1.';
COMMENT ON COLUMN ledger.written_at IS 'Time when the advice was stored, by the clock of the database.';
COMMENT ON COLUMN ledger.previous IS 'Hash of the row before; null for the first row.';
COMMENT ON COLUMN ledger.hash IS 'SHA-256 of the other columns, including the hash of the row before.';

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

COMMENT ON TABLE incident IS 'One row per incident. A group has at most one open incident; the pipeline of a cluster has at most one per kind.';
COMMENT ON COLUMN incident.incident_id IS 'Number of the incident.';
COMMENT ON COLUMN incident.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN incident.group_id IS 'Consumer group; null for an incident of the whole cluster.';
COMMENT ON COLUMN incident.key IS 'Id of the incident, from its start to its end.';
COMMENT ON COLUMN incident.kind IS 'Cause; for a group, the most severe one so far.';
COMMENT ON COLUMN incident.severity IS 'Severity: critical or warning.';
COMMENT ON COLUMN incident.began_at IS 'Start, as far as snapshots show it; null if only its opening is known.';
COMMENT ON COLUMN incident.opened_at IS 'Time when it was opened.';
COMMENT ON COLUMN incident.last_seen_at IS 'Time of the last snapshot that shows it.';
COMMENT ON COLUMN incident.closed_at IS 'Time when it was resolved; null while it is open.';
COMMENT ON COLUMN incident.notified_at IS 'Time of its first delivered notification; null if there was none.';
COMMENT ON COLUMN incident.alert_key IS 'Key of its notification, its own or a digest; null if it has none.';
COMMENT ON COLUMN incident.owner IS 'Owner of the group; null if none is configured.';
COMMENT ON COLUMN incident.summary IS 'Description of the problem.';
COMMENT ON COLUMN incident.causes IS 'All causes, most severe first: a list of {cause, since, amount, facts ...}.';
COMMENT ON COLUMN incident.good_snapshot_id IS 'Id of the last snapshot in which the group was healthy; null if unknown.';
COMMENT ON COLUMN incident.facts IS 'Details of a pipeline incident, by name.';

CREATE TABLE incident_watch (
    cluster TEXT NOT NULL,
    subject TEXT NOT NULL,
    snapshot_id TEXT NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    first_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT incident_watch_pkey PRIMARY KEY (cluster, subject)
);

COMMENT ON TABLE incident_watch IS 'One row per cluster and subject (groups or pipeline): its last evaluation for incidents.';
COMMENT ON COLUMN incident_watch.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN incident_watch.subject IS 'Subject: groups or pipeline.';
COMMENT ON COLUMN incident_watch.snapshot_id IS 'Newest evaluated snapshot, which may have no row; for the pipeline, its newest evaluation.';
COMMENT ON COLUMN incident_watch.at IS 'End of that snapshot; for the pipeline, time of the evaluation.';
COMMENT ON COLUMN incident_watch.first_at IS 'Time of the first evaluation.';

CREATE TABLE incident_course (
    cluster TEXT NOT NULL,
    subject TEXT NOT NULL,
    name TEXT NOT NULL,
    course JSONB NOT NULL,
    CONSTRAINT incident_course_pkey PRIMARY KEY (cluster, subject, name)
);

COMMENT ON TABLE incident_course IS 'One row per group or pipeline with an open or suspected incident: the state that the next evaluation continues.';
COMMENT ON COLUMN incident_course.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN incident_course.subject IS 'Subject: groups or pipeline.';
COMMENT ON COLUMN incident_course.name IS 'Consumer group, or cause of a pipeline incident.';
COMMENT ON COLUMN incident_course.course IS 'State of its incident, as JSON.';

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

COMMENT ON TABLE alert IS 'One row per notification: pending when it is stored, sent after its delivery.';
COMMENT ON COLUMN alert.alert_id IS 'Number of the notification.';
COMMENT ON COLUMN alert.key IS 'Deduplication key; a key is delivered once.';
COMMENT ON COLUMN alert.cluster IS 'Configured name of its cluster.';
COMMENT ON COLUMN alert.snapshot_id IS 'Snapshot that it reports; null if there is none.';
COMMENT ON COLUMN alert.kind IS 'Kind of the notification.';
COMMENT ON COLUMN alert.channel IS 'Channel that receives it.';
COMMENT ON COLUMN alert.message IS 'Content as JSON, without the markup of a chat program.';
COMMENT ON COLUMN alert.answers IS 'Key of the notification whose thread it belongs to; null if it starts a thread.';
COMMENT ON COLUMN alert.replaces IS 'Key of the notification that it edits, as first posted; null if it is posted as a new message.';
COMMENT ON COLUMN alert.broadcast IS 'True if a reply in a thread is also shown in the channel.';
COMMENT ON COLUMN alert.state IS 'Delivery state: pending, sent, or superseded by a newer notification before delivery.';
COMMENT ON COLUMN alert.attempts IS 'Number of delivery attempts.';
COMMENT ON COLUMN alert.attempted_at IS 'Start of a delivery attempt that may still be running; null if there is none.';
COMMENT ON COLUMN alert.unsure IS 'True if an attempt failed but may have delivered the message.';
COMMENT ON COLUMN alert.last_error IS 'Error of the last attempt; null if it succeeded.';
COMMENT ON COLUMN alert.created_at IS 'Time when it was stored.';
COMMENT ON COLUMN alert.sent_at IS 'Time of the delivery; null before it.';
COMMENT ON COLUMN alert.sent_channel IS 'Id of the channel at the chat program; null before the delivery.';
COMMENT ON COLUMN alert.sent_timestamp IS 'Id of the message at the chat program, used for edits and replies; null before the delivery.';

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

COMMENT ON TABLE silence IS 'One row per silence, ack or maintenance window. Maintenance windows are stored when they start.';
COMMENT ON COLUMN silence.silence_id IS 'Number of the silence.';
COMMENT ON COLUMN silence.kind IS 'Kind: silence, ack (of the incidents that were open at its start) or maintenance.';
COMMENT ON COLUMN silence.cluster IS 'Shell pattern of its clusters.';
COMMENT ON COLUMN silence.groups IS 'Shell pattern of its groups.';
COMMENT ON COLUMN silence.starts_at IS 'Start.';
COMMENT ON COLUMN silence.ends_at IS 'Planned end; null if it ends with its incidents.';
COMMENT ON COLUMN silence.reason IS 'Reason.';
COMMENT ON COLUMN silence.who IS 'Author.';
COMMENT ON COLUMN silence.created_at IS 'Time when it was stored.';
COMMENT ON COLUMN silence.ended_at IS 'Early end; null if it was not ended early.';
COMMENT ON COLUMN silence.channels IS 'Channels that were notified of its start.';
COMMENT ON COLUMN silence.end_notified_at IS 'Time when its end was notified, or needed no notification; null before.';
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

COMMENT ON TABLE consumer_group IS 'One row per group with samples, with its number.';
COMMENT ON COLUMN consumer_group.group_number IS 'Number of the group, used as a short key in its samples.';
COMMENT ON COLUMN consumer_group.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN consumer_group.group_id IS 'Consumer group.';

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

COMMENT ON TABLE group_sample IS 'One row per group and snapshot with its main metrics, partitioned by day (UTC).';
COMMENT ON COLUMN group_sample.group_number IS 'Number of the group.';
COMMENT ON COLUMN group_sample.members IS 'Number of members.';
COMMENT ON COLUMN group_sample.taken_at IS 'Start of the snapshot.';
COMMENT ON COLUMN group_sample.total_lag IS 'Lag of the group in offsets; null if unknown.';
COMMENT ON COLUMN group_sample.largest_member_lag IS 'Largest member lag in offsets; null if the lag of a partition is unknown.';
COMMENT ON COLUMN group_sample.lag_lower_bound IS 'Lower bound of the largest member lag over all assignments, in offsets.';
COMMENT ON COLUMN group_sample.partitions IS 'Number of partitions in the totals.';
COMMENT ON COLUMN group_sample.unknown_lag_partitions IS 'Number of those with unknown lag; null if there are none, or if the number is unknown.';
COMMENT ON COLUMN group_sample.lag_skew IS 'Largest member lag divided by mean member lag; null if the total is 0 or unknown.';
COMMENT ON COLUMN group_sample.delay_seconds IS 'Time lag beyond the commit interval, in seconds.';
COMMENT ON COLUMN group_sample.time_lag_seconds IS 'Age of its oldest unconsumed record, in seconds.';
COMMENT ON COLUMN group_sample.production_per_second IS 'Incoming rate of its partitions, in offsets per second.';
COMMENT ON COLUMN group_sample.consumption_per_second IS 'Committed offsets per second.';
COMMENT ON COLUMN group_sample.cross_rack_bytes_per_second IS 'Cross-rack bytes per second.';
COMMENT ON COLUMN group_sample.cross_rack_cost_per_month IS 'Cost of the cross-rack traffic in 30 days; null without a price.';
COMMENT ON COLUMN group_sample.partitions_moved IS 'Number of partitions that were reassigned since the previous snapshot; null if none, or if not compared.';
COMMENT ON COLUMN group_sample.members_joined IS 'Number of members that joined since then; null if none, or if not compared.';
COMMENT ON COLUMN group_sample.members_left IS 'Number of members that left since then; null if none, or if not compared.';
COMMENT ON COLUMN group_sample.members_restarted IS 'Number of members that restarted since then; null if none, or if not compared.';
COMMENT ON COLUMN group_sample.forecast_soon_lag_low IS 'Forecast with the current assignment, p10: lag in 15 minutes, in offsets.';
COMMENT ON COLUMN group_sample.forecast_soon_lag_expected IS 'Forecast with the current assignment, p50: lag in 15 minutes, in offsets.';
COMMENT ON COLUMN group_sample.forecast_soon_lag_high IS 'Forecast with the current assignment, p90: lag in 15 minutes, in offsets.';
COMMENT ON COLUMN group_sample.forecast_lag_low IS 'Forecast with the current assignment, p10: lag in one hour, in offsets.';
COMMENT ON COLUMN group_sample.forecast_lag_expected IS 'Forecast with the current assignment, p50: lag in one hour, in offsets.';
COMMENT ON COLUMN group_sample.forecast_lag_high IS 'Forecast with the current assignment, p90: lag in one hour, in offsets.';
COMMENT ON COLUMN group_sample.readable IS 'True if it was read and passed validation.';
COMMENT ON COLUMN group_sample.compared IS 'True if its members are compared with those of the previous stable snapshot.';
COMMENT ON COLUMN group_sample.reassigned IS 'True if its assignment differs from the previous snapshot, or if that is unknown.';
COMMENT ON COLUMN group_sample.status IS 'Status of its worst partition; null for OK.';
COMMENT ON COLUMN group_sample.state IS 'State of the group as reported by the broker; null for Stable.';
COMMENT ON COLUMN group_sample.diagnosis IS 'Diagnosis; null if not evaluated.';
COMMENT ON COLUMN group_sample.currency IS 'Currency of the cost, ISO 4217; null without a price.';
COMMENT ON COLUMN group_sample.would_have_moved IS 'Moves with each strategy, if it had been in use: a list of {strategy, moves}; null without a change.';

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

COMMENT ON TABLE member_span IS 'One row per member of a group and period of membership, from stable snapshots.';
COMMENT ON COLUMN member_span.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN member_span.group_id IS 'Consumer group.';
COMMENT ON COLUMN member_span.member_id IS 'Member id assigned by the coordinator; it changes when the member restarts.';
COMMENT ON COLUMN member_span.identity IS 'Identity that survives restarts: the instance id, otherwise client id and host.';
COMMENT ON COLUMN member_span.since IS 'Start of the first snapshot with the member.';
COMMENT ON COLUMN member_span.until IS 'Start of the first snapshot without the member; null if there is none.';

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

COMMENT ON TABLE group_hour IS 'One row per group and hour (UTC), rolled up from its snapshots and kept longer.';
COMMENT ON COLUMN group_hour.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN group_hour.group_id IS 'Consumer group.';
COMMENT ON COLUMN group_hour.since IS 'Start of the hour.';
COMMENT ON COLUMN group_hour.snapshots IS 'Number of snapshots that contain the group.';
COMMENT ON COLUMN group_hour.unreadable_snapshots IS 'Number of those in which it could not be read, or was skipped by validation.';
COMMENT ON COLUMN group_hour.covered_seconds IS 'Seconds that its snapshots cover; each covers the time since the previous one, at most one hour.';
COMMENT ON COLUMN group_hour.known_lag_snapshots IS 'Number of snapshots in which its lag is known.';
COMMENT ON COLUMN group_hour.lowest_lag IS 'Minimum lag in offsets; null if never known.';
COMMENT ON COLUMN group_hour.mean_lag IS 'Mean lag in offsets.';
COMMENT ON COLUMN group_hour.highest_lag IS 'Maximum lag in offsets.';
COMMENT ON COLUMN group_hour.last_lag IS 'Last known lag in offsets.';
COMMENT ON COLUMN group_hour.highest_delay_seconds IS 'Maximum time lag beyond the commit interval, in seconds, as far as known.';
COMMENT ON COLUMN group_hour.highest_time_lag_seconds IS 'Maximum age of its oldest unconsumed record, in seconds, as far as known.';
COMMENT ON COLUMN group_hour.fewest_members IS 'Minimum number of members.';
COMMENT ON COLUMN group_hour.most_members IS 'Maximum number of members.';
COMMENT ON COLUMN group_hour.known_production_snapshots IS 'Number of snapshots in which its incoming rate is known.';
COMMENT ON COLUMN group_hour.production_per_second IS 'Mean incoming rate, in offsets per second.';
COMMENT ON COLUMN group_hour.known_consumption_snapshots IS 'Number of snapshots in which its commit rate is known.';
COMMENT ON COLUMN group_hour.consumption_per_second IS 'Mean of the committed offsets per second.';
COMMENT ON COLUMN group_hour.diagnosis_seconds IS 'Covered seconds by diagnosis: {diagnosis: seconds}.';
COMMENT ON COLUMN group_hour.cross_rack_seconds IS 'Covered seconds with known cross-rack traffic.';
COMMENT ON COLUMN group_hour.cross_rack_bytes IS 'Cross-rack bytes in that time; null if never known.';
COMMENT ON COLUMN group_hour.cross_rack_cost IS 'Cost of these bytes at the configured price; null without a price, or if its currency changed.';
COMMENT ON COLUMN group_hour.currency IS 'Currency of the cost, ISO 4217; null without a cost.';
COMMENT ON COLUMN group_hour.rebalancing_snapshots IS 'Number of snapshots in which it was rebalancing.';
COMMENT ON COLUMN group_hour.compared_snapshots IS 'Number of snapshots whose members are compared with the previous ones.';
COMMENT ON COLUMN group_hour.changed_snapshots IS 'Number of those with members that joined, left or restarted: a lower bound of the rebalances.';
COMMENT ON COLUMN group_hour.members_joined IS 'Number of members that joined; null if no snapshot could be compared.';
COMMENT ON COLUMN group_hour.members_left IS 'Number of members that left.';
COMMENT ON COLUMN group_hour.members_restarted IS 'Number of members that restarted.';
COMMENT ON COLUMN group_hour.partitions_moved IS 'Number of partitions that were reassigned by these changes.';
COMMENT ON COLUMN group_hour.would_have_moved IS 'Moves with each strategy, if it had been in use: a list of {strategy, moves, changes}.';
COMMENT ON COLUMN group_hour.advised_snapshots IS 'Number of snapshots with the advice to switch or to stay.';
COMMENT ON COLUMN group_hour.wins IS 'Wins by strategy, with a null strategy for no winner: a list of {strategy, won, advised}.';

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

COMMENT ON TABLE group_day IS 'One row per group and day (UTC), rolled up from its hours and kept longer.';
COMMENT ON COLUMN group_day.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN group_day.group_id IS 'Consumer group.';
COMMENT ON COLUMN group_day.since IS 'Start of the day.';
COMMENT ON COLUMN group_day.snapshots IS 'Number of snapshots that contain the group.';
COMMENT ON COLUMN group_day.unreadable_snapshots IS 'Number of those in which it could not be read, or was skipped by validation.';
COMMENT ON COLUMN group_day.covered_seconds IS 'Seconds that its snapshots cover; each covers the time since the previous one, at most one hour.';
COMMENT ON COLUMN group_day.known_lag_snapshots IS 'Number of snapshots in which its lag is known.';
COMMENT ON COLUMN group_day.lowest_lag IS 'Minimum lag in offsets; null if never known.';
COMMENT ON COLUMN group_day.mean_lag IS 'Mean lag in offsets.';
COMMENT ON COLUMN group_day.highest_lag IS 'Maximum lag in offsets.';
COMMENT ON COLUMN group_day.last_lag IS 'Last known lag in offsets.';
COMMENT ON COLUMN group_day.highest_delay_seconds IS 'Maximum time lag beyond the commit interval, in seconds, as far as known.';
COMMENT ON COLUMN group_day.highest_time_lag_seconds IS 'Maximum age of its oldest unconsumed record, in seconds, as far as known.';
COMMENT ON COLUMN group_day.fewest_members IS 'Minimum number of members.';
COMMENT ON COLUMN group_day.most_members IS 'Maximum number of members.';
COMMENT ON COLUMN group_day.known_production_snapshots IS 'Number of snapshots in which its incoming rate is known.';
COMMENT ON COLUMN group_day.production_per_second IS 'Mean incoming rate, in offsets per second.';
COMMENT ON COLUMN group_day.known_consumption_snapshots IS 'Number of snapshots in which its commit rate is known.';
COMMENT ON COLUMN group_day.consumption_per_second IS 'Mean of the committed offsets per second.';
COMMENT ON COLUMN group_day.diagnosis_seconds IS 'Covered seconds by diagnosis: {diagnosis: seconds}.';
COMMENT ON COLUMN group_day.cross_rack_seconds IS 'Covered seconds with known cross-rack traffic.';
COMMENT ON COLUMN group_day.cross_rack_bytes IS 'Cross-rack bytes in that time; null if never known.';
COMMENT ON COLUMN group_day.cross_rack_cost IS 'Cost of these bytes at the configured price; null without a price, or if its currency changed.';
COMMENT ON COLUMN group_day.currency IS 'Currency of the cost, ISO 4217; null without a cost.';
COMMENT ON COLUMN group_day.rebalancing_snapshots IS 'Number of snapshots in which it was rebalancing.';
COMMENT ON COLUMN group_day.compared_snapshots IS 'Number of snapshots whose members are compared with the previous ones.';
COMMENT ON COLUMN group_day.changed_snapshots IS 'Number of those with members that joined, left or restarted: a lower bound of the rebalances.';
COMMENT ON COLUMN group_day.members_joined IS 'Number of members that joined; null if no snapshot could be compared.';
COMMENT ON COLUMN group_day.members_left IS 'Number of members that left.';
COMMENT ON COLUMN group_day.members_restarted IS 'Number of members that restarted.';
COMMENT ON COLUMN group_day.partitions_moved IS 'Number of partitions that were reassigned by these changes.';
COMMENT ON COLUMN group_day.would_have_moved IS 'Moves with each strategy, if it had been in use: a list of {strategy, moves, changes}.';
COMMENT ON COLUMN group_day.advised_snapshots IS 'Number of snapshots with the advice to switch or to stay.';
COMMENT ON COLUMN group_day.wins IS 'Wins by strategy, with a null strategy for no winner: a list of {strategy, won, advised}.';

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

COMMENT ON TABLE diagnosis_span IS 'One row per group and period with the same diagnosis.';
COMMENT ON COLUMN diagnosis_span.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN diagnosis_span.group_id IS 'Consumer group.';
COMMENT ON COLUMN diagnosis_span.diagnosis IS 'Diagnosis; unknown if the data is not sufficient.';
COMMENT ON COLUMN diagnosis_span.since IS 'Start of the first snapshot with this diagnosis.';
COMMENT ON COLUMN diagnosis_span.until IS 'Start of the first snapshot with another diagnosis; null if there is none.';
COMMENT ON COLUMN diagnosis_span.already_so IS 'True if the first snapshot of the group shows it, so that it may be older.';

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

COMMENT ON TABLE step_run IS 'One row per run of a step of the pipeline.';
COMMENT ON COLUMN step_run.step_run_id IS 'Number of the run.';
COMMENT ON COLUMN step_run.cluster IS 'Configured name of the cluster; null for a step of all clusters.';
COMMENT ON COLUMN step_run.snapshot_id IS 'Id of the snapshot, which may have no row; null for a step that takes one or needs none.';
COMMENT ON COLUMN step_run.step IS 'Name of the step.';
COMMENT ON COLUMN step_run.started_at IS 'Start.';
COMMENT ON COLUMN step_run.finished_at IS 'End.';
COMMENT ON COLUMN step_run.outcome IS 'Outcome: ok, failed, or skipped because the previous run was still active.';
COMMENT ON COLUMN step_run.error IS 'Reason of a failure or skip in one line; null if the step succeeded.';
COMMENT ON COLUMN step_run.link IS 'URL of the task in Airflow, the same for all tries; null outside of Airflow.';

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
COMMENT ON COLUMN held_lock.since IS 'Start of the holder''s transaction.';

CREATE TABLE installation (
    installation_id TEXT NOT NULL,
    lake TEXT NOT NULL,
    host TEXT NOT NULL,
    since TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT installation_pkey PRIMARY KEY (installation_id)
);

CREATE UNIQUE INDEX installation_only_one ON installation ((true));

COMMENT ON TABLE installation IS 'At most one row: the installation whose pipeline writes the database, known by the id in its lake.';
COMMENT ON COLUMN installation.installation_id IS 'Random id, kept in the lake.';
COMMENT ON COLUMN installation.lake IS 'Path or URI of the lake.';
COMMENT ON COLUMN installation.host IS 'Host that wrote first.';
COMMENT ON COLUMN installation.since IS 'Time of the first write.';
