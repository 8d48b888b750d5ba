-- One row per group and strategy of the newest snapshot with candidates: its score (smaller is better), how a user gets
-- it, and whether the group could. The row with is_live is what the group has now, the one to compare with; the row
-- with is_running is the strategy that the group would run at its next rebalance.
CREATE OR REPLACE VIEW strategy_scoreboard AS
SELECT
    candidate.strategy = 'live' AS is_live,
    -- a broker calls its server-side assignor "range" as clients do theirs
    coalesce(
        candidate.strategy = CASE
            WHEN metrics.group_type = 'consumer' AND metrics.assignor = 'range' THEN 'range-server'
            ELSE metrics.assignor
        END,
        FALSE
    ) AS is_running,
    coalesce(advice.verdict = 'switch' AND advice.strategy = candidate.strategy, FALSE) AS is_advised,
    snapshot.started_at AS taken_at,
    -- last, so that a score that is added to the table is here too
    candidate.*
FROM newest_snapshot AS newest
INNER JOIN snapshot ON snapshot.snapshot_id = newest.proposed
INNER JOIN candidate ON candidate.snapshot_id = newest.proposed
LEFT JOIN group_metrics AS metrics
    ON metrics.snapshot_id = candidate.snapshot_id AND metrics.group_id = candidate.group_id
LEFT JOIN advice
    ON advice.snapshot_id = candidate.snapshot_id AND advice.group_id = candidate.group_id;
