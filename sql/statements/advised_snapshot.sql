-- A snapshot as its alert needs it, the newest snapshot of the same cluster with advice, and the start of the newest
-- snapshot. verdicts: number of groups by verdict, as JSON. Snapshots from the future, by a clock that was ahead, count for one of their own only. No row if the
-- snapshot is unknown.
--
-- Parameters:
--   :snapshot_id text  Id of the snapshot.
SELECT
    s.snapshot_id,
    s.cluster,
    s.started_at,
    s.finished_at,
    s.partial,
    s.problems,
    (
        SELECT newest.snapshot_id
        FROM snapshot AS newest
        WHERE
            newest.cluster = s.cluster
            AND (has_come(newest.started_at) OR NOT has_come(s.started_at))
            AND EXISTS (SELECT 1 FROM advice AS a WHERE a.snapshot_id = newest.snapshot_id)
        ORDER BY newest.started_at DESC, newest.snapshot_id DESC
        LIMIT 1
    ) AS newest_advised_id,
    (
        SELECT max(any_of.started_at)
        FROM snapshot AS any_of
        WHERE any_of.cluster = s.cluster AND (has_come(any_of.started_at) OR NOT has_come(s.started_at))
    ) AS newest_started_at,
    (
        SELECT coalesce(jsonb_object_agg(told.verdict, told.groups), '{}')
        FROM (
            SELECT
                a.verdict,
                count(*) AS groups
            FROM advice AS a
            WHERE a.snapshot_id = s.snapshot_id
            GROUP BY a.verdict
        ) AS told
    ) AS verdicts
FROM snapshot AS s
WHERE s.snapshot_id = CAST(:snapshot_id AS text);
