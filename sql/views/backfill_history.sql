-- One row per backfill, group and snapshot: what the snapshot says of the group by the configuration and the version of the
-- backfill, and what was said of it then. A winner is looked for in the snapshots alone that the backfill made candidates
-- of: is_judged is null for all others.
--
-- Columns as in: backfill, backfilled_group.
-- Its own columns:
--   backfilled_at timestamptz  When the newest run of that backfill began.
CREATE OR REPLACE VIEW backfill_history AS
SELECT
    backfill.cluster,
    made.group_id,
    made.taken_at,
    backfill.config_version,
    backfill.evenkeel_version,
    made.covered_seconds,
    made.diagnosis,
    made.diagnosis_then,
    made.diagnosis_reason,
    made.is_judged,
    made.winner,
    made.was_judged,
    made.winner_then,
    made.differs,
    made.status,
    made.members,
    made.partitions,
    made.total_lag,
    made.lag_skew,
    made.delay_seconds,
    made.time_lag_seconds,
    made.production_per_second,
    made.consumption_per_second,
    made.cross_rack_share,
    made.commit_interval_seconds,
    made.error,
    backfill.started_at AS backfilled_at
FROM backfilled_group AS made
INNER JOIN backfill ON backfill.backfill_id = made.backfill_id;
