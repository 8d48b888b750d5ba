-- One row per group and period with the same advice, including "stay", with the text of its first snapshot. state is
-- the state of the newest advice to switch. event is its state change at that first snapshot (verified if it was
-- adopted and verified at once), event_cause the reason.
--
-- Columns as in: advice.
-- Its own columns:
--   event text = none           State change of an advice at this snapshot: proposed, confirmed, adopted, verified, ...; null if there is none.
--   event_strategy text = none  Strategy of that advice.
--   event_cause text = none     Reason of the state change.
--   moves bigint                Number of partitions that are reassigned if the advice is followed.
--   since timestamptz           Start of the first of the consecutive snapshots with this advice.
--   until timestamptz           Start of the first snapshot with different advice; null while the advice is current.
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
