-- Inserts or updates the row of a snapshot, without the columns of later steps. A late snapshot shortens the time
-- that the next one covers, so that the hour of the next one is rolled up again.
--
-- Parameters:
--   :snapshot_id text           Id of the snapshot.
--   :cluster text               Configured name of the cluster.
--   :started_at timestamptz     Start of the snapshot.
--   :finished_at timestamptz    End of the snapshot.
--   :problems text[]            Read errors.
--   :requests jsonb             Number of requests by API name.
--   :bytes_sent bigint          Bytes of requests; null if unknown.
--   :bytes_received bigint      Bytes of responses; null if unknown.
--   :group_count integer        Number of groups; null if unknown.
--   :unreadable_groups integer  Number of groups that could not be read completely; null if unknown.
--   :schema_version integer     Schema version of its tables in the lake.
--   :config_version text        Hash of the configuration; null if unknown.
--   :written_at timestamptz     Time when it was written to the lake.
INSERT INTO snapshot (
    snapshot_id, cluster, started_at, finished_at, partial, problems, requests, bytes_sent, bytes_received,
    group_count, unreadable_groups, schema_version, config_version, written_at
)
VALUES (
    :snapshot_id,
    :cluster,
    CAST(:started_at AS timestamptz),
    CAST(:finished_at AS timestamptz),
    cardinality(CAST(:problems AS text [])) > 0,
    CAST(:problems AS text []),
    CAST(:requests AS jsonb),
    CAST(:bytes_sent AS bigint),
    CAST(:bytes_received AS bigint),
    CAST(:group_count AS integer),
    CAST(:unreadable_groups AS integer),
    CAST(:schema_version AS integer),
    CAST(:config_version AS text),
    CAST(:written_at AS timestamptz)
)
ON CONFLICT (snapshot_id) DO UPDATE SET
    started_at = excluded.started_at,
    finished_at = excluded.finished_at,
    partial = excluded.partial,
    problems = excluded.problems,
    requests = excluded.requests,
    bytes_sent = excluded.bytes_sent,
    bytes_received = excluded.bytes_received,
    group_count = excluded.group_count,
    unreadable_groups = excluded.unreadable_groups,
    schema_version = excluded.schema_version,
    config_version = coalesce(excluded.config_version, snapshot.config_version),
    written_at = excluded.written_at;

UPDATE snapshot AS next SET rolled_up_at = NULL
WHERE
    next.rolled_up_at IS NOT NULL
    AND next.snapshot_id = (
        SELECT later.snapshot_id FROM snapshot AS later
        WHERE later.cluster = :cluster AND later.started_at > CAST(:started_at AS timestamptz)
        ORDER BY later.started_at, later.snapshot_id LIMIT 1
    );
