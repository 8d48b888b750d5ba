-- Appends the advice of a snapshot with its moves, and notes that the snapshot has its advice.
--
-- Parameters:
--   :snapshot_id text  The snapshot.
--   :rows jsonb        List of advice: the columns of `advice`, and under `moves` a list of those of `advice_move`.
INSERT INTO advice (
    snapshot_id, cluster, group_id, verdict, strategy, reason, how, yardstick, yardstick_reason, seen, config_version,
    created_at, facts, yardstick_facts
)
SELECT
    :snapshot_id,
    given.cluster,
    given.group_id,
    given.verdict,
    given.strategy,
    given.reason,
    given.how,
    given.yardstick,
    given.yardstick_reason,
    given.seen,
    given.config_version,
    given.created_at,
    given.facts,
    given.yardstick_facts
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given (
    cluster text,
    group_id text,
    verdict text,
    strategy text,
    reason text,
    how text,
    yardstick text,
    yardstick_reason text,
    seen integer,
    config_version text,
    created_at timestamptz,
    facts jsonb,
    yardstick_facts jsonb
);

INSERT INTO advice_move (advice_id, topic, partition, from_member, to_member)
SELECT
    advice.advice_id,
    move.topic,
    move.partition,
    move.from_member,
    move.to_member
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given (group_id text, moves jsonb)
INNER JOIN advice ON advice.snapshot_id = :snapshot_id AND advice.group_id = given.group_id
CROSS JOIN LATERAL jsonb_to_recordset(given.moves) AS move (
    topic text,
    partition integer,
    from_member text,
    to_member text
);

UPDATE snapshot SET advised_at = now()
WHERE snapshot_id = :snapshot_id;
