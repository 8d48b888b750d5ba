-- Stores the result and the number of checks of the validation of a snapshot. It is rejected if a critical
-- expectation without a group failed at any stage.
--
-- Parameters:
--   :snapshot_id text  Id of the snapshot.
UPDATE snapshot SET
    validated_at = coalesce(validated_at, now()),
    thinned_at = NULL,
    -- deleted checks are not counted again
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
