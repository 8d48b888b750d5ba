-- One row per notification, without its content.
--
-- Columns as in: alert.
-- Its own columns:
--   taken_at timestamptz = none   Start of the snapshot that it reports; null if there is none.
--   is_edit boolean               True if it edits an earlier notification.
CREATE OR REPLACE VIEW message_history AS
SELECT
    alert.cluster,
    alert.kind,
    alert.state,
    snapshot.started_at AS taken_at,
    alert.created_at,
    alert.sent_at,
    alert.replaces IS NOT NULL AS is_edit
FROM alert
LEFT JOIN snapshot ON snapshot.snapshot_id = alert.snapshot_id;
