-- What is known is stored as values beside its sentence; a skipped run is an outcome of its own.

ALTER TABLE group_metrics ADD COLUMN facts jsonb;
ALTER TABLE candidate ADD COLUMN facts jsonb;
ALTER TABLE advice ADD COLUMN facts jsonb;
ALTER TABLE advice ADD COLUMN yardstick_facts jsonb;

ALTER TABLE step_run DROP CONSTRAINT step_run_outcome_check;
ALTER TABLE step_run ADD CONSTRAINT step_run_outcome_check CHECK (outcome IN ('ok', 'failed', 'skipped'));

UPDATE step_run SET outcome = 'skipped'
WHERE step = 'take_snapshot' AND outcome = 'failed' AND error LIKE 'late:%';

COMMENT ON COLUMN group_metrics.facts IS
    'The findings as values, to ask with @> by measure: a list of {kind, measure, before, after, bound, ...}.';
COMMENT ON COLUMN candidate.facts IS
    'Findings, proof and replay as values, to ask with @>: a list of {kind, measure, before, after, ...}.';
COMMENT ON COLUMN advice.facts IS
    'The reason as values (kinds gain, loss, reason ...), to ask with @>: a list of {kind, measure, ...}.';
COMMENT ON COLUMN advice.yardstick_facts IS 'What the yardstick would gain, as values of the same form.';
COMMENT ON COLUMN group_metrics.status IS
    'That of its worst partition, worsening in this order: OK, UNKNOWN, WARN, STALL, STOP, REWIND.';
COMMENT ON COLUMN step_run.outcome IS 'How it ended: ok, failed, or skipped as the run before was still at it.';
COMMENT ON COLUMN step_run.error IS 'Why it failed or was skipped, in one line; null when it was not.';
COMMENT ON COLUMN partition_latest.status IS 'OK, UNKNOWN, WARN, STALL, STOP or REWIND, worsening in this order.';
COMMENT ON COLUMN partition_worst.status IS 'OK, UNKNOWN, WARN, STALL, STOP or REWIND, worsening in this order.';
