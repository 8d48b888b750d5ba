-- The metrics of groups in given snapshots: one row per group, each column an array. number counts the snapshots from
-- 0.
--
-- Parameters:
--   :cluster text              Configured name of the cluster.
--   :taken_at timestamptz[]    Starts of the snapshots, oldest first.
--   :group text = null         Consumer group; null for all matching groups.
--   :groups_regex text = null  Regular expression of group ids; null for all groups.
WITH numbered AS (
    SELECT
        listed.taken_at,
        (listed.place - 1)::integer AS number
    FROM unnest(CAST(:taken_at AS timestamptz[])) WITH ORDINALITY AS listed (taken_at, place)
)

SELECT
    history.group_id,
    array_agg(numbered.number ORDER BY numbered.number) AS numbers,
    array_agg(history.total_lag ORDER BY numbered.number) AS lags,
    array_agg(history.delay_seconds ORDER BY numbered.number) AS delays,
    array_agg(history.time_lag_seconds ORDER BY numbered.number) AS time_lags
FROM numbered
INNER JOIN lag_history AS history ON history.taken_at = numbered.taken_at
WHERE
    history.cluster = CAST(:cluster AS text)
    AND (CAST(:group AS text) IS NULL OR history.group_id = CAST(:group AS text))
    AND (CAST(:groups_regex AS text) IS NULL OR history.group_id ~ CAST(:groups_regex AS text))
GROUP BY history.group_id;
