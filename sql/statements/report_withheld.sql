-- What validation withheld in a period: one row per group, stage and reason, the newest first.
--
-- Parameters:
--   :cluster text              Configured name of the cluster.
--   :since timestamptz         From which moment on.
--   :group text = null         The consumer group; null: every one that matches.
--   :groups_regex text = null  What matches; null: every group.
SELECT
    failed.group_id,
    failed.stage,
    failed.reason,
    count(DISTINCT failed.snapshot_id) AS snapshots,
    max(failed.taken_at) AS last_at
FROM validation_history AS failed
WHERE
    failed.cluster = CAST(:cluster AS text)
    AND failed.taken_at >= CAST(:since AS timestamptz)
    AND failed.severity = 'critical'
    AND NOT failed.success
    AND failed.group_id IS NOT NULL
    AND (CAST(:group AS text) IS NULL OR failed.group_id = CAST(:group AS text))
    AND (CAST(:groups_regex AS text) IS NULL OR failed.group_id ~ CAST(:groups_regex AS text))
GROUP BY failed.group_id, failed.stage, failed.reason
ORDER BY last_at DESC, failed.group_id, failed.stage;
