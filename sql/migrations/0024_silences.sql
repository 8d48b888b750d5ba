-- Of which groups less is said for a while: silences, acknowledgements, and planned maintenance as it comes.

CREATE TABLE silence (
    silence_id bigint GENERATED ALWAYS AS IDENTITY,
    kind text NOT NULL,
    cluster text NOT NULL,
    groups text NOT NULL,
    starts_at timestamptz NOT NULL,
    ends_at timestamptz,
    reason text NOT NULL,
    who text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    channels text[] NOT NULL DEFAULT '{}',
    end_told_at timestamptz,
    cluster_regex text NOT NULL,
    groups_regex text NOT NULL,
    CONSTRAINT silence_pkey PRIMARY KEY (silence_id),
    CONSTRAINT silence_kind_check CHECK (kind IN ('silence', 'ack', 'maintenance')),
    CONSTRAINT silence_end_check CHECK (ends_at > starts_at AND (ends_at IS NOT NULL OR kind = 'ack'))
);

CREATE UNIQUE INDEX silence_window ON silence (cluster, groups, starts_at)
WHERE kind = 'maintenance' AND ended_at IS NULL;
CREATE INDEX silence_not_over ON silence (starts_at) WHERE end_told_at IS NULL;

COMMENT ON TABLE silence IS
    'For which groups nobody is woken, from when to when, by whom and why. Planned maintenance is noted when it begins.';
COMMENT ON COLUMN silence.silence_id IS 'Number of the silence.';
COMMENT ON COLUMN silence.kind IS
    'Whether it is a silence, an ack (of incidents that were open when it began) or planned maintenance.';
COMMENT ON COLUMN silence.cluster IS 'Shell pattern of the clusters that it covers.';
COMMENT ON COLUMN silence.groups IS 'Shell pattern of the groups that it covers.';
COMMENT ON COLUMN silence.starts_at IS 'When it begins.';
COMMENT ON COLUMN silence.ends_at IS 'When it is to end; null: with the incidents that it is about.';
COMMENT ON COLUMN silence.reason IS 'Why.';
COMMENT ON COLUMN silence.who IS 'Who wanted it so.';
COMMENT ON COLUMN silence.created_at IS 'When it was stored.';
COMMENT ON COLUMN silence.ended_at IS 'When it was ended early; null when it was not.';
COMMENT ON COLUMN silence.channels IS 'Where people have been told that it began.';
COMMENT ON COLUMN silence.end_told_at IS 'When its end was told, or needed no word; null before.';
COMMENT ON COLUMN silence.cluster_regex IS 'The pattern of clusters as a regular expression of Postgres.';
COMMENT ON COLUMN silence.groups_regex IS 'The pattern of groups as a regular expression of Postgres.';
