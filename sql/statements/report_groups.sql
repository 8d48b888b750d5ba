-- The groups of a cluster as they are now: one row per group of its newest measured snapshot.
--
-- Parameters:
--   :cluster text              Configured name of the cluster.
--   :group text = null         The consumer group; null: every one that matches.
--   :groups_regex text = null  What matches; null: every group.
SELECT
    status.group_id,
    status.owner,
    status.group_type,
    status.group_state,
    lag.assignor,
    status.diagnosis,
    status.diagnosis_reason,
    status.diagnosis_since,
    status.diagnosis_already_so,
    status.members,
    status.partitions,
    status.total_lag,
    status.delay_seconds,
    status.time_lag_seconds,
    status.error,
    lag.findings,
    lag.racks_left_out,
    status.incident
FROM group_status AS status
INNER JOIN latest_lag AS lag ON lag.cluster = status.cluster AND lag.group_id = status.group_id
WHERE
    status.cluster = CAST(:cluster AS text)
    AND (CAST(:group AS text) IS NULL OR status.group_id = CAST(:group AS text))
    AND (CAST(:groups_regex AS text) IS NULL OR status.group_id ~ CAST(:groups_regex AS text));
