-- What is read across racks, what does it cost, and what would be saved? One row per group of the newest snapshot with
-- candidates, the dearest first: bytes per second as they are produced, cost in 30 days at the configured price_per_gb, and
-- the cheapest strategy that the group could run (feasibility "available" or "needs restart"), if one costs less, else null. Other nulls are unknown:
-- rates need two snapshots, sizes DESCRIBE on the cluster or bytes_per_record, a cost price_per_gb. Only groups of which a
-- share is known are listed.
--
-- Parameters:
--   :cluster text = null  Configured name of the cluster; null: every cluster.
--   :group text = null    The consumer group; null: every group.
--
-- Columns as in: strategy_scoreboard.
-- Its own columns:
--   cheapest_strategy text = none                                                      Its name.
--   cheapest_share double precision = none where cheapest_strategy                     Its cross-rack share.
--   cheapest_bytes_per_second double precision = none where cheapest_strategy          Bytes per second across racks under it.
--   cheapest_cost_per_month double precision = none where cheapest_strategy, currency  What those cost in 30 days.
--   saved_per_month double precision = none where cheapest_strategy, currency          What it would save in 30 days.
WITH live AS (
    SELECT *
    FROM strategy_scoreboard
    WHERE
        is_live
        AND cross_rack_share IS NOT NULL
        AND (CAST(:cluster AS text) IS NULL OR cluster = CAST(:cluster AS text))
        AND (CAST(:group AS text) IS NULL OR group_id = CAST(:group AS text))
)

SELECT
    live.cluster,
    live.group_id,
    live.cross_rack_share,
    live.cross_rack_bytes_per_second,
    live.cross_rack_cost_per_month,
    cheapest.strategy AS cheapest_strategy,
    cheapest.feasibility,
    cheapest.cross_rack_share AS cheapest_share,
    cheapest.cross_rack_bytes_per_second AS cheapest_bytes_per_second,
    cheapest.cross_rack_cost_per_month AS cheapest_cost_per_month,
    live.cross_rack_cost_per_month - cheapest.cross_rack_cost_per_month AS saved_per_month,
    live.currency,
    live.racks_left_out,
    live.taken_at,
    extract(epoch FROM now() - live.taken_at)::double precision AS age_seconds
FROM live
LEFT JOIN LATERAL (
    SELECT other.*
    FROM strategy_scoreboard AS other
    WHERE
        other.cluster = live.cluster
        AND other.group_id = live.group_id
        AND NOT other.is_live
        AND other.feasibility IN ('available', 'needs restart')
        -- what goes to members of unknown racks is not known to be near
        AND other.racks_left_out <= live.racks_left_out
        AND other.cross_rack_bytes_per_second < live.cross_rack_bytes_per_second
    ORDER BY other.cross_rack_bytes_per_second, other.position
    LIMIT 1
) AS cheapest ON TRUE
ORDER BY
    live.cross_rack_cost_per_month DESC NULLS LAST,
    live.cross_rack_bytes_per_second DESC NULLS LAST,
    live.cross_rack_share DESC,
    live.cluster,
    live.group_id;
