-- Whose group it was that was advised: so what became of advice can be counted by owner.

ALTER TABLE advice
    ADD COLUMN owner text;

COMMENT ON COLUMN advice.owner IS
    'Who owned the group then; null where that was not configured, or not kept yet.';
