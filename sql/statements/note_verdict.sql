-- Notes the verdict on a snapshot, and how much was checked: it is rejected when a critical expectation without a group failed,
-- at any stage.
--
-- Parameters:
--   :snapshot_id text  The snapshot.
UPDATE snapshot SET
    validated_at = coalesce(validated_at, now()),
    thinned_at = NULL,
    -- of what was forgotten since, nothing is counted any more
    checks = greatest(
        checks, (SELECT count(*)::integer FROM validation WHERE validation.snapshot_id = snapshot.snapshot_id)
    ),
    rejected = EXISTS (
        SELECT FROM validation
        WHERE
            validation.snapshot_id = snapshot.snapshot_id
            AND group_id IS NULL AND NOT success AND severity = 'critical'
    )
WHERE snapshot_id = :snapshot_id;
