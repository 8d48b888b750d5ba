-- Puts the staged validation rows of one stage in place of those of an earlier try, and notes the verdict.
-- A snapshot is rejected when a critical expectation without a group failed, at either stage.
--
-- Parameters:
--   :snapshot_id text  The snapshot.
--   :stage text        "snapshot" or "candidates".
DELETE FROM validation
WHERE snapshot_id = :snapshot_id AND stage = :stage;

INSERT INTO validation (
    snapshot_id, cluster, stage, group_id, expectation, severity, success, unexpected_count, checked_count, reason
)
SELECT
    snapshot_id, cluster, stage, group_id, expectation, severity, success, unexpected_count, checked_count, reason
FROM staged_validation;

UPDATE snapshot SET
    validated_at = coalesce(validated_at, now()),
    rejected = EXISTS (
        SELECT FROM validation
        WHERE
            validation.snapshot_id = snapshot.snapshot_id
            AND group_id IS NULL AND NOT success AND severity = 'critical'
    )
WHERE snapshot_id = :snapshot_id;
