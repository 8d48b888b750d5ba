-- Appends the staged advice and its moves, and notes that the snapshot has its advice.
--
-- Parameters:
--   :snapshot_id text  The snapshot.
INSERT INTO advice (
    snapshot_id, cluster, group_id, verdict, strategy, reason, how, yardstick, yardstick_reason, seen, config_version,
    created_at
)
SELECT
    snapshot_id, cluster, group_id, verdict, strategy, reason, how, yardstick, yardstick_reason, seen, config_version,
    created_at
FROM staged_advice;

INSERT INTO advice_move (advice_id, topic, partition, from_member, to_member)
SELECT advice.advice_id, move.topic, move.partition, move.from_member, move.to_member
FROM staged_advice_move AS move
INNER JOIN advice ON advice.snapshot_id = :snapshot_id AND advice.group_id = move.group_id;

UPDATE snapshot SET advised_at = now()
WHERE snapshot_id = :snapshot_id;
