-- What does cross-rack traffic cost, and what could be saved? One row per group of the newest snapshot with
-- candidates, most expensive first. Only groups with a known cross-rack share are listed. Traffic is in bytes per
-- second without backlog, cost in 30 days at the configured price_per_gb. The cheapest strategy is the cheapest
-- available one (feasibility "available" or "needs restart"), null if none is cheaper than the current one. Other
-- nulls are unknown: rates need two snapshots, record sizes DESCRIBE on the cluster or bytes_per_record, cost
-- price_per_gb.
--
-- Parameters:
--   :cluster text = null  Configured name of the cluster; null for all clusters.
--   :group text = null    Consumer group; null for all groups.
--
-- Columns as in: strategy_scoreboard.
-- Its own columns:
--   cheapest_strategy text = none                                                      Name of the cheapest strategy.
--   cheapest_share double precision = none where cheapest_strategy                     Cross-rack share with it.
--   cheapest_bytes_per_second double precision = none where cheapest_strategy          Cross-rack bytes per second with it.
--   cheapest_cost_per_month double precision = none where cheapest_strategy, currency  Cost in 30 days with it.
--   saved_per_month double precision = none where cheapest_strategy, currency          Savings in 30 days with it.
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
    live.cross_rack_cost_per_month,
    live.cross_rack_cost_per_month - cheapest.cross_rack_cost_per_month AS saved_per_month,
    live.currency,
    cheapest.strategy AS cheapest_strategy,
    cheapest.feasibility,
    live.cross_rack_bytes_per_second,
    cheapest.cross_rack_share AS cheapest_share,
    cheapest.cross_rack_bytes_per_second AS cheapest_bytes_per_second,
    cheapest.cross_rack_cost_per_month AS cheapest_cost_per_month,
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
        -- traffic to members in unknown racks is unknown
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
