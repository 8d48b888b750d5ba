-- What is the matter with a group, by how far behind it is in time and by what its members can do.

DROP VIEW IF EXISTS latest_lag;

ALTER TABLE group_metrics
    ADD COLUMN diagnosis text,
    ADD COLUMN diagnosis_reason text,
    ADD COLUMN commit_interval_seconds double precision,
    ADD COLUMN delay_seconds double precision;

COMMENT ON COLUMN group_metrics.diagnosis IS
    'What is the matter with it: keeps up, catching up, skewed load, slow member, no members, ... or unknown.';
COMMENT ON COLUMN group_metrics.diagnosis_reason IS 'The same with names and numbers; null where it keeps up.';
COMMENT ON COLUMN group_metrics.commit_interval_seconds IS
    'Seconds from one of its commits to the next, learned or configured; null while none was seen.';
COMMENT ON COLUMN group_metrics.delay_seconds IS
    'How far it is behind beyond its commit interval, by its worst partition.';

ALTER TABLE member_metrics ADD COLUMN utilisation double precision;

COMMENT ON COLUMN member_metrics.capacity_basis IS
    'How that is known: configured, saturated, at least, as its peers, unknown.';
COMMENT ON COLUMN member_metrics.utilisation IS
    'What arrives at it over what it can consume: above 1 it falls behind; null when either is unknown.';
