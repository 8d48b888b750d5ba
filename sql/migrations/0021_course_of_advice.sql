-- How far an advice has come, and what became of it: states as they are reached, promises as they are checked.

DROP VIEW IF EXISTS latest_lag;
DROP VIEW IF EXISTS latest_advice;

ALTER TABLE group_metrics ADD COLUMN assignment text;

COMMENT ON COLUMN group_metrics.assignment IS
    'Fingerprint of who owns what, by the identities of members; null while that is in motion.';

ALTER TABLE advice
    ADD COLUMN state text,
    ADD COLUMN state_since timestamptz,
    ADD COLUMN course jsonb,
    ADD CONSTRAINT advice_state_check CHECK (
        state IN ('proposed', 'confirmed', 'taken up', 'verified', 'missed', 'withdrawn', 'expired')
    );

COMMENT ON COLUMN advice.state IS
    'How far its newest advice has come: proposed, confirmed, taken up, verified, missed, withdrawn, expired.';
COMMENT ON COLUMN advice.state_since IS 'Since when it is in that state.';
COMMENT ON COLUMN advice.course IS
    'What the next snapshot has to know of it, as JSON; null where that is nothing.';

CREATE TABLE advice_event (
    advice_id bigint NOT NULL,
    at timestamptz NOT NULL,
    strategy text NOT NULL,
    state text NOT NULL,
    cause text NOT NULL,
    facts jsonb NOT NULL,
    diagnosis text,
    CONSTRAINT advice_event_pkey PRIMARY KEY (advice_id),
    CONSTRAINT advice_event_advice_fkey FOREIGN KEY (advice_id) REFERENCES advice ON DELETE CASCADE,
    CONSTRAINT advice_event_state_check CHECK (
        state IN ('proposed', 'confirmed', 'taken up', 'verified', 'missed', 'withdrawn', 'expired')
    )
);

COMMENT ON TABLE advice_event IS
    'From a snapshot on an advice was in another state; at most one of each group and snapshot.';
COMMENT ON COLUMN advice_event.advice_id IS 'With which advice that was stored.';
COMMENT ON COLUMN advice_event.at IS 'When the snapshot was taken.';
COMMENT ON COLUMN advice_event.strategy IS 'The strategy that it is about.';
COMMENT ON COLUMN advice_event.state IS
    'What it became: proposed, confirmed, taken up, verified, missed, withdrawn or expired.';
COMMENT ON COLUMN advice_event.cause IS 'Why, in words.';
COMMENT ON COLUMN advice_event.facts IS 'Why, as values: a list of {kind, measure, ...}.';
COMMENT ON COLUMN advice_event.diagnosis IS 'What was the matter with the group then.';

CREATE TABLE advice_check (
    advice_id bigint NOT NULL,
    strategy text NOT NULL,
    taken_up_at timestamptz NOT NULL,
    after_seconds integer NOT NULL,
    measure text NOT NULL,
    unit text NOT NULL,
    low double precision NOT NULL,
    expected double precision NOT NULL,
    high double precision NOT NULL,
    realised double precision,
    CONSTRAINT advice_check_pkey PRIMARY KEY (advice_id, after_seconds, measure),
    CONSTRAINT advice_check_advice_fkey FOREIGN KEY (advice_id) REFERENCES advice ON DELETE CASCADE
);

COMMENT ON TABLE advice_check IS
    'What was promised of an advice that was taken up, and what came, so long afterwards.';
COMMENT ON COLUMN advice_check.advice_id IS 'With which advice that was stored.';
COMMENT ON COLUMN advice_check.strategy IS 'The strategy that was taken up.';
COMMENT ON COLUMN advice_check.taken_up_at IS 'When it was taken up.';
COMMENT ON COLUMN advice_check.after_seconds IS
    'How long after it was taken up; for a day, what was promised for an hour.';
COMMENT ON COLUMN advice_check.measure IS
    'What was promised: lag, delay_seconds, utilisation (of the busiest member) or cross_rack_share.';
COMMENT ON COLUMN advice_check.unit IS 'What the values count: offsets, s, ratio or share.';
COMMENT ON COLUMN advice_check.low IS 'Low end of what was promised: four times of five it lies between low and high.';
COMMENT ON COLUMN advice_check.expected IS 'What was expected.';
COMMENT ON COLUMN advice_check.high IS 'High end of what was promised.';
COMMENT ON COLUMN advice_check.realised IS
    'What came; null where no snapshot tells it, or the assignment was another by then.';
