-- One row per expectation of a snapshot and its results: whether it was met, and the reason of a failure. A failed
-- critical expectation skips its group; without a group it rejects the snapshot.
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
