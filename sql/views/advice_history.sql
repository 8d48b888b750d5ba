-- One row per group and time in which it was told the same, "stay" included: what and why, in the words of the first snapshot after
-- which it was, and from when until when; until is null where it is told so still. state is how far the newest advice to
-- switch had come; event is what it became by that first snapshot (verified, where it was taken up and verified at once),
-- event_cause why.
--
-- Columns as in: advice.
-- Its own columns:
--   event text = none           What an advice became by this snapshot: proposed, confirmed, adopted, verified, ...; null: nothing else.
--   event_strategy text = none  The strategy of that advice.
--   event_cause text = none     Why it became so, in words.
--   moves bigint                Number of partitions that change hands when it is followed.
--   since timestamptz           When the first of the snapshots in a row was taken after which it was told so.
--   until timestamptz           When the first snapshot was taken after which it was told otherwise; null: it is told so still.
CREATE OR REPLACE VIEW advice_history AS
SELECT
    advice.cluster,
    advice.group_id,
    snapshot.started_at AS taken_at,
    advice.verdict,
    advice.strategy,
    advice.seen,
    advice.state,
    advice.state_since,
    event.state AS event,
    event.strategy AS event_strategy,
    event.cause AS event_cause,
    advice.reason,
    advice.how,
    advice.best_undeployable,
    advice.best_undeployable_reason,
    (SELECT count(*) FROM advice_move WHERE advice_move.advice_id = advice.advice_id) AS moves,
    advice.facts,
    advice.snapshot_id,
    advice.since,
    advice.until
FROM advice
INNER JOIN snapshot ON snapshot.snapshot_id = advice.snapshot_id
LEFT JOIN advice_event AS event ON event.advice_id = advice.advice_id AND event.state = advice.state
WHERE NOT advice.repeats;
