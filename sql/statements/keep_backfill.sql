-- Notes a backfill and how far it has come, instead of what was noted of the same cluster, configuration and version; one
-- row with its number.
--
-- Parameters:
--   :cluster text                               Configured name of the cluster.
--   :config_version text                        Hash of the configuration.
--   :evenkeel_version text                      Version of evenkeel.
--   :groups text                                Shell pattern of the groups.
--   :since timestamptz                          From when on snapshots are judged.
--   :until timestamptz                          Before when they were begun.
--   :candidates_every_seconds double precision  How far apart are those with candidates; null: none has any.
--   :snapshots integer                          How many are to be judged.
--   :done_snapshots integer                     How many of those are done.
--   :done_through text                          The newest that is; null: none is.
--   :started_at timestamptz                     When the run began.
--   :finished_at timestamptz                    When it was done; null: it is not.
INSERT INTO backfill (
    cluster, config_version, evenkeel_version, groups, since, until, candidates_every_seconds, snapshots, done_snapshots,
    done_through, started_at, finished_at
)
VALUES (
    :cluster, :config_version, :evenkeel_version, :groups, :since, :until,
    CAST(:candidates_every_seconds AS double precision), :snapshots, :done_snapshots,
    CAST(:done_through AS text), :started_at, CAST(:finished_at AS timestamptz)
)
ON CONFLICT (cluster, config_version, evenkeel_version) DO UPDATE SET
    groups = excluded.groups,
    since = excluded.since,
    until = excluded.until,
    candidates_every_seconds = excluded.candidates_every_seconds,
    snapshots = excluded.snapshots,
    done_snapshots = excluded.done_snapshots,
    done_through = excluded.done_through,
    started_at = excluded.started_at,
    finished_at = excluded.finished_at
RETURNING backfill_id;
