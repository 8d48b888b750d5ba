-- One row per thing that was expected of a snapshot, or of what was made of it: whether it held, and why not. A failed one that
-- is critical withheld its group; without a group it rejected the snapshot.
--
-- Columns as in: validation.
CREATE OR REPLACE VIEW validation_history AS
SELECT
    validation.cluster,
    snapshot.started_at AS taken_at,
    validation.stage,
    validation.group_id,
    validation.expectation,
    validation.severity,
    validation.success,
    validation.unexpected_count,
    validation.checked_count,
    validation.reason,
    validation.snapshot_id
FROM snapshot
INNER JOIN validation ON validation.snapshot_id = snapshot.snapshot_id;
