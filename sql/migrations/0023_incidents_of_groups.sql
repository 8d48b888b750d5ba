-- Incidents of groups: what is known of each, what is remembered from one snapshot to the next, and messages that answer or
-- replace others.

ALTER TABLE incident
    ADD COLUMN key text,
    ADD COLUMN began_at timestamptz,
    ADD COLUMN owner text,
    ADD COLUMN summary text,
    ADD COLUMN causes jsonb NOT NULL DEFAULT '[]',
    ADD COLUMN good_snapshot_id text,
    ADD COLUMN alert_key text,
    ADD COLUMN told_at timestamptz,
    ADD CONSTRAINT incident_key_key UNIQUE (key);

DROP INDEX incident_one_open;

CREATE UNIQUE INDEX incident_one_open ON incident (cluster, kind) WHERE closed_at IS NULL AND group_id IS NULL;
CREATE UNIQUE INDEX incident_one_open_of_group ON incident (cluster, group_id)
WHERE closed_at IS NULL AND group_id IS NOT NULL;
CREATE INDEX incident_alert ON incident (alert_key) WHERE alert_key IS NOT NULL;

COMMENT ON TABLE incident IS
    'Something that is wrong for a while: at most one open per group, one of each kind per pipeline of a cluster.';
COMMENT ON COLUMN incident.key IS
    'Our own id of the incident of a group, the same from beginning to end; null for one of the pipeline.';
COMMENT ON COLUMN incident.kind IS 'What is wrong; of a group the worst that was seen.';
COMMENT ON COLUMN incident.opened_at IS 'When it was first seen; of a group, when it was worth telling.';
COMMENT ON COLUMN incident.began_at IS 'When it began, as far as is known; null where only its opening is.';
COMMENT ON COLUMN incident.owner IS 'Who owns the group; null where that is not configured.';
COMMENT ON COLUMN incident.summary IS 'What is wrong, in words; null for one of the pipeline.';
COMMENT ON COLUMN incident.causes IS 'All that is wrong, the worst first: a list of {cause, since, amount, facts ...}.';
COMMENT ON COLUMN incident.good_snapshot_id IS
    'The last snapshot in which the group was well; null where none is known.';
COMMENT ON COLUMN incident.alert_key IS
    'Key of the message that stands for it, its own or a digest; null while nobody is to be told.';
COMMENT ON COLUMN incident.told_at IS 'When its message first arrived; null: nobody has been told.';

CREATE TABLE group_watch (
    cluster text NOT NULL,
    snapshot_id text NOT NULL,
    at timestamptz NOT NULL,
    first_at timestamptz NOT NULL,
    CONSTRAINT group_watch_pkey PRIMARY KEY (cluster)
);

COMMENT ON TABLE group_watch IS 'How far the groups of each cluster have been watched for incidents.';
COMMENT ON COLUMN group_watch.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN group_watch.snapshot_id IS 'The newest snapshot that was looked at, also one that has no row.';
COMMENT ON COLUMN group_watch.at IS 'When its reading ended.';
COMMENT ON COLUMN group_watch.first_at IS 'When the reading of the first one ended.';

CREATE TABLE group_course (
    cluster text NOT NULL,
    group_id text NOT NULL,
    course jsonb NOT NULL,
    CONSTRAINT group_course_pkey PRIMARY KEY (cluster, group_id)
);

COMMENT ON TABLE group_course IS
    'What the next snapshot has to know of the groups with which something is wrong, or may be; none of those that are well.';
COMMENT ON COLUMN group_course.cluster IS 'Configured name of the cluster.';
COMMENT ON COLUMN group_course.group_id IS 'The consumer group.';
COMMENT ON COLUMN group_course.course IS 'How far its incident has come, as JSON.';

ALTER TABLE alert
    ADD COLUMN answers text,
    ADD COLUMN replaces text,
    ADD COLUMN broadcast boolean NOT NULL DEFAULT false,
    ADD COLUMN unsure boolean NOT NULL DEFAULT false;

CREATE INDEX alert_replaces ON alert (replaces) WHERE replaces IS NOT NULL;
CREATE INDEX alert_answers ON alert (answers) WHERE answers IS NOT NULL;

COMMENT ON COLUMN alert.answers IS 'Key of the message in whose thread it belongs; null: it stands alone.';
COMMENT ON COLUMN alert.replaces IS
    'Key of the message that is changed to it, as that was first posted; null: it is posted anew.';
COMMENT ON COLUMN alert.broadcast IS 'Whether an answer is shown in the channel, too.';
COMMENT ON COLUMN alert.unsure IS 'Whether an attempt failed in such a way that the message may be there after all.';

-- What was to be said of an incident's end found its thread by the incident's number; and an attempt stood in the message.
UPDATE alert
SET answers = 'incident ' || incident_id || ' opened', broadcast = true
WHERE incident_id IS NOT NULL AND key LIKE 'incident % closed';

UPDATE alert
SET attempted_at = CAST(message ->> 'attempted_at' AS timestamptz), message = message - 'attempted_at'
WHERE message -> 'attempted_at' IS NOT NULL;

UPDATE alert SET unsure = true WHERE state = 'pending' AND attempts > 0;
