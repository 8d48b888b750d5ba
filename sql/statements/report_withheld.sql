-- The groups that were skipped by validation in a period: one row per group, stage and reason, newest first.
--
-- Parameters:
--   :cluster text              Configured name of the cluster.
--   :since timestamptz         Start of the period.
--   :group text = null         Consumer group; null for all matching groups.
--   :groups_regex text = null  Regular expression of group ids; null for all groups.
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
