-- What a reading itself carried; and what groups read across racks, in bytes and in money.

ALTER TABLE snapshot ADD COLUMN bytes_sent bigint;
ALTER TABLE snapshot ADD COLUMN bytes_received bigint;

COMMENT ON COLUMN snapshot.bytes_sent IS 'Bytes of the requests it took, without what TLS adds; null when not noted.';
COMMENT ON COLUMN snapshot.bytes_received IS 'Bytes of the responses, without what TLS adds; null when not noted.';

ALTER TABLE group_metrics ADD COLUMN cross_rack_bytes_per_second double precision;
ALTER TABLE group_metrics ADD COLUMN cross_rack_cost_per_month double precision;
ALTER TABLE group_metrics ADD COLUMN currency text;

COMMENT ON COLUMN group_metrics.cross_rack_bytes_per_second IS
    'Bytes per second of partitions read across racks, as produced; null when a rate, a size or who serves reads is unknown.';
COMMENT ON COLUMN group_metrics.cross_rack_cost_per_month IS
    'What that costs in 30 days at the configured price_per_gb; null without a price or when the bytes are unknown.';
COMMENT ON COLUMN group_metrics.currency IS 'Currency of the cost, ISO 4217; null without a price.';

ALTER TABLE partition_latest ADD COLUMN bytes_per_record double precision;
ALTER TABLE partition_latest ADD COLUMN bytes_per_record_basis text;

COMMENT ON COLUMN partition_latest.bytes_per_record IS
    'Average bytes of a record as stored and sent, compressed; null when unknown.';
COMMENT ON COLUMN partition_latest.bytes_per_record_basis IS
    'How that is known: log directory, other partitions of the topic, configured, unknown.';

ALTER TABLE partition_worst ADD COLUMN bytes_per_record double precision;
ALTER TABLE partition_worst ADD COLUMN bytes_per_record_basis text;

COMMENT ON COLUMN partition_worst.bytes_per_record IS
    'Average bytes of a record as stored and sent, compressed; null when unknown.';
COMMENT ON COLUMN partition_worst.bytes_per_record_basis IS
    'How that is known: log directory, other partitions of the topic, configured, unknown.';

ALTER TABLE candidate ADD COLUMN cross_rack_bytes_per_second double precision;
ALTER TABLE candidate ADD COLUMN cross_rack_cost_per_month double precision;
ALTER TABLE candidate ADD COLUMN currency text;

COMMENT ON COLUMN candidate.cross_rack_bytes_per_second IS
    'Bytes per second that would be read across racks, as produced; null when a rate, a size or who serves reads is unknown.';
COMMENT ON COLUMN candidate.cross_rack_cost_per_month IS
    'What that would cost in 30 days at the configured price_per_gb; null without a price or when the bytes are unknown.';
COMMENT ON COLUMN candidate.currency IS 'Currency of the cost, ISO 4217; null without a price.';
