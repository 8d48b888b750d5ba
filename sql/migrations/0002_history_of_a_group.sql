-- The history of a group is asked for without its cluster more often than the other way round.

DROP INDEX group_metrics_history;
CREATE INDEX group_metrics_history ON group_metrics (group_id, cluster, snapshot_id);

DROP INDEX advice_history;
CREATE INDEX advice_history ON advice (group_id, cluster, snapshot_id);
