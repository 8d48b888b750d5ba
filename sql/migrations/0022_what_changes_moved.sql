-- What joins, leaves and restarts of members moved, and what they would have moved under other strategies.

ALTER TABLE group_metrics
    ADD COLUMN members_joined integer,
    ADD COLUMN members_left integer,
    ADD COLUMN members_restarted integer,
    ADD COLUMN partitions_moved integer,
    ADD COLUMN would_have_moved jsonb;

CREATE INDEX group_metrics_changes ON group_metrics (group_id, cluster, snapshot_id) WHERE would_have_moved IS NOT NULL;

COMMENT ON COLUMN group_metrics.members_joined IS
    'Members that came since the snapshot before in which it was at rest; null without such a one.';
COMMENT ON COLUMN group_metrics.members_left IS 'Members that went since then.';
COMMENT ON COLUMN group_metrics.members_restarted IS 'Members that came back under another id since then.';
COMMENT ON COLUMN group_metrics.partitions_moved IS
    'Partitions that went from one member to another by that; 0 where its members are the same.';
COMMENT ON COLUMN group_metrics.would_have_moved IS
    'What strategies that a setting brings, in force before, would have moved instead: {strategy, moves}.';
