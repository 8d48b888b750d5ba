-- Puts the validation rows of one stage in place of those of an earlier try, and notes the verdict: a snapshot is
-- rejected when a critical expectation without a group failed, at either stage.
--
-- Parameters:
--   :snapshot_id text  The snapshot.
--   :stage text        "snapshot" or "candidates".
--   :rows jsonb        List of what was expected: the columns of `validation`.
DELETE FROM validation
WHERE snapshot_id = :snapshot_id AND stage = :stage;

INSERT INTO validation (
    snapshot_id, cluster, stage, group_id, expectation, severity, success, unexpected_count, checked_count, reason
)
SELECT
    snapshot.snapshot_id,
    snapshot.cluster,
    :stage,
    given.group_id,
    given.expectation,
    given.severity,
    given.success,
    given.unexpected_count,
    given.checked_count,
    given.reason
FROM snapshot
CROSS JOIN jsonb_to_recordset(CAST(:rows AS jsonb)) AS given (
    group_id text,
    expectation text,
    severity text,
    success boolean,
    unexpected_count bigint,
    checked_count bigint,
    reason text
)
WHERE snapshot.snapshot_id = :snapshot_id;

UPDATE snapshot SET
    validated_at = coalesce(validated_at, now()),
    rejected = EXISTS (
        SELECT FROM validation
        WHERE
            validation.snapshot_id = snapshot.snapshot_id
            AND group_id IS NULL AND NOT success AND severity = 'critical'
    )
WHERE snapshot_id = :snapshot_id;
