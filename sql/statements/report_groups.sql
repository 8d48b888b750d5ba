-- The current state of the groups of a cluster: one row per group of its newest snapshot with metrics.
--
-- Parameters:
--   :cluster text              Configured name of the cluster.
--   :group text = null         Consumer group; null for all matching groups.
--   :groups_regex text = null  Regular expression of group ids; null for all groups.
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
    lag.rebalance_seconds,
    lag.rebalance_basis,
    lag.rebalances_observed,
    lag.restart_seconds,
    lag.restart_basis,
    lag.restarts_observed,
    status.incident
FROM group_status AS status
INNER JOIN latest_lag AS lag ON lag.cluster = status.cluster AND lag.group_id = status.group_id
WHERE
    status.cluster = CAST(:cluster AS text)
    AND (CAST(:group AS text) IS NULL OR status.group_id = CAST(:group AS text))
    AND (CAST(:groups_regex AS text) IS NULL OR status.group_id ~ CAST(:groups_regex AS text));
