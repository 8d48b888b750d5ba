-- Which groups were skipped by validation, and why? One row per failed critical expectation of each cluster's newest
-- validated snapshot; a row without a group rejected the whole snapshot.
--
-- Parameters:
--   :cluster text = null  Configured name of the cluster; null for all clusters.
--
-- Columns as in: validation.
SELECT
    validation.cluster,
    validation.group_id,
    validation.reason,
    validation.stage,
    validation.expectation,
    validation.unexpected_count,
    validation.checked_count,
    snapshot.started_at AS taken_at,
    extract(epoch FROM now() - snapshot.started_at)::double precision AS age_seconds,
    validation.snapshot_id
FROM validation
INNER JOIN snapshot ON snapshot.snapshot_id = validation.snapshot_id
WHERE
    NOT validation.success
    AND validation.severity = 'critical'
    AND (CAST(:cluster AS text) IS NULL OR validation.cluster = CAST(:cluster AS text))
    AND NOT EXISTS (
        SELECT FROM snapshot AS newer
        WHERE
            newer.cluster = snapshot.cluster
            AND newer.validated_at IS NOT NULL
            AND (newer.started_at, newer.snapshot_id) > (snapshot.started_at, snapshot.snapshot_id)
    )
ORDER BY validation.cluster, validation.group_id NULLS FIRST, validation.stage, validation.expectation;
