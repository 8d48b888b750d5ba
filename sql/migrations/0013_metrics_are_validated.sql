-- Metrics are validated before they are stored here.

ALTER TABLE validation DROP CONSTRAINT validation_stage_check;
ALTER TABLE validation ADD CONSTRAINT validation_stage_check CHECK (stage IN ('snapshot', 'metrics', 'candidates'));

COMMENT ON TABLE validation IS
    'What was expected of a snapshot and what was made of it, and whether it held. A failed critical row withholds its group.';
COMMENT ON COLUMN validation.stage IS
    '"snapshot": what was read; "metrics": what was measured; "candidates": what was proposed.';
