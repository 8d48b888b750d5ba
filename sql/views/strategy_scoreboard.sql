-- One row per group and strategy of the newest snapshot with candidates: its score (smaller is better), how a user gets
-- it, and whether the group could. The row with is_live is what the group has now, the one to compare with; the row
-- with is_running is the strategy that the group would run at its next rebalance; where that is not known it is null, and
-- of a Kafka Streams application several can be true, if all of them give exactly what it has.
CREATE OR REPLACE VIEW strategy_scoreboard AS
SELECT
    candidate.strategy = 'live' AS is_live,
    coalesce(advice.verdict = 'switch' AND advice.strategy = candidate.strategy, FALSE) AS is_advised,
    snapshot.started_at AS taken_at,
    -- last, so that a score that is added to the table is here too
    candidate.*
FROM newest_snapshot AS newest
INNER JOIN snapshot ON snapshot.snapshot_id = newest.proposed
INNER JOIN candidate ON candidate.snapshot_id = newest.proposed
LEFT JOIN advice
    ON advice.snapshot_id = candidate.snapshot_id AND advice.group_id = candidate.group_id;
