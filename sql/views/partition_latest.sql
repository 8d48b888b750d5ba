-- One row per partition of a group in the newest snapshot with metrics. Earlier ones are in the lake.
--
-- Columns as in: partition_worst.
CREATE OR REPLACE VIEW partition_latest AS
SELECT
    block.snapshot_id,
    block.cluster,
    block.group_id,
    block.config_version,
    block.topic,
    block.words[block.topic_id[each.place]] AS topic_id,
    each.partition,
    block.subscribed[each.place] AS subscribed,
    block.begin_offset[each.place] AS begin_offset,
    block.end_offset[each.place] AS end_offset,
    block.committed_offset[each.place] AS committed_offset,
    block.lag[each.place] AS lag,
    block.words[block.lag_basis[each.place]] AS lag_basis,
    block.lost_records[each.place] AS lost_records,
    block.production_per_second[each.place] AS production_per_second,
    block.consumption_per_second[each.place] AS consumption_per_second,
    block.time_lag_seconds[each.place] AS time_lag_seconds,
    block.words[block.time_lag_basis[each.place]] AS time_lag_basis,
    block.time_to_loss_seconds[each.place] AS time_to_loss_seconds,
    block.words[block.status[each.place]] AS status,
    block.words[block.member_id[each.place]] AS member_id,
    block.cross_rack[each.place] AS cross_rack,
    block.committed_at[each.place] AS committed_at,
    block.end_at[each.place] AS end_at,
    block.counted[each.place] AS counted,
    block.lag_for_strategies[each.place] AS lag_for_strategies,
    block.production_deviation_per_second[each.place] AS production_deviation_per_second,
    block.consumption_deviation_per_second[each.place] AS consumption_deviation_per_second,
    block.bytes_per_record[each.place] AS bytes_per_record,
    block.words[block.bytes_per_record_basis[each.place]] AS bytes_per_record_basis
FROM partition_block AS block
CROSS JOIN LATERAL unnest(block.partition) WITH ORDINALITY AS each (partition, place);
