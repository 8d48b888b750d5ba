-- One row per group of the newest measured snapshot of each cluster: lag (offsets), skew, racks, status, and how old
-- all that is. Shares are fractions of 1. Null is unknown.
CREATE OR REPLACE VIEW latest_lag AS
SELECT
    snapshot.started_at AS taken_at,
    extract(epoch FROM now() - snapshot.started_at)::double precision AS age_seconds,
    snapshot.partial,
    -- last, so that a metric that is added to the table is here too
    metrics.*
FROM newest_snapshot AS newest
INNER JOIN snapshot ON snapshot.snapshot_id = newest.measured
INNER JOIN group_metrics AS metrics ON metrics.snapshot_id = newest.measured;
