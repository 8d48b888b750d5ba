-- Stores the figures of the scored candidates of a snapshot for hours and days, and deletes those of an earlier try.
--
-- Parameters:
--   :snapshot_id text  Id of the snapshot.
DELETE FROM candidate_sample
WHERE snapshot_id = :snapshot_id;

INSERT INTO candidate_sample (
    snapshot_id, group_id, strategies, runnable, member_lag, forecast_lag, cross_rack_share, cross_rack_bytes_per_second,
    moves
)
SELECT
    snapshot_id,
    group_id,
    array_agg(strategy ORDER BY position, strategy),
    array_agg(feasibility IN ('available', 'needs restart') ORDER BY position, strategy),
    array_agg(largest_member_lag::real ORDER BY position, strategy),
    array_agg(forecast_lag_expected::real ORDER BY position, strategy),
    array_agg(cross_rack_share::real ORDER BY position, strategy),
    array_agg(cross_rack_bytes_per_second::real ORDER BY position, strategy),
    array_agg(moves ORDER BY position, strategy)
FROM candidate
WHERE snapshot_id = :snapshot_id AND moves IS NOT NULL
GROUP BY snapshot_id, group_id;
