-- What is won across racks alone may be verified by the snapshot that shows that it was taken up: both are kept.

ALTER TABLE advice_event DROP CONSTRAINT advice_event_pkey;
ALTER TABLE advice_event ADD CONSTRAINT advice_event_pkey PRIMARY KEY (advice_id, state);

COMMENT ON TABLE advice_event IS
    'From a snapshot on an advice was in another state; one of each group and snapshot, two where it was taken up and verified at once.';
COMMENT ON COLUMN advice_check.after_seconds IS
    'How long after it was taken up, 0 as soon as it is seen; for a day, what was promised for an hour.';
