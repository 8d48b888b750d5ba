-- What became of advice in a period is found without reading all that ever became of any.

CREATE INDEX advice_event_at ON advice_event (at);
