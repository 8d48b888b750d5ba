-- Writes the row of a snapshot, or writes it again; what later steps noted in it stays. The one that follows it stands for
-- less time when it comes late, so its hour is counted again.
--
-- Parameters:
--   :snapshot_id text           The snapshot.
--   :cluster text               Its cluster.
--   :started_at timestamptz     When the reading began.
--   :finished_at timestamptz    When the reading ended.
--   :problems text[]            What could not be read.
--   :requests jsonb             Number of requests by API name.
--   :bytes_sent bigint          Bytes of requests; null when not noted.
--   :bytes_received bigint      Bytes of responses; null when not noted.
--   :group_count integer        Number of groups; null when unknown.
--   :unreadable_groups integer  Number of those that could not be read; null when unknown.
--   :schema_version integer     Version of its tables in the lake.
--   :config_version text        Hash of the configuration; null when unknown.
--   :written_at timestamptz     When the lake had it.
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
