-- Stores the changed members of stable groups in the newest snapshot with metrics of its cluster, after a rollback of
-- an earlier try.
--
-- Parameters:
--   :snapshot_id text  Id of the snapshot.

-- the planner doesn't know the number of rows of this snapshot yet; a nested loop would take minutes
SELECT set_config('enable_nestloop', 'off', TRUE);

DELETE FROM member_span AS span USING snapshot
WHERE
    snapshot.snapshot_id = :snapshot_id
    AND span.cluster = snapshot.cluster
    AND span.since = snapshot.started_at
    AND span.until IS NOT NULL;

-- a member that is still there keeps its row
DELETE FROM member_span AS span USING snapshot
WHERE
    snapshot.snapshot_id = :snapshot_id
    AND span.cluster = snapshot.cluster
    AND span.since = snapshot.started_at
    AND NOT EXISTS (
        SELECT FROM group_metrics AS metrics
        INNER JOIN member_metrics AS member
            ON member.snapshot_id = metrics.snapshot_id AND member.group_id = metrics.group_id
        WHERE
            metrics.snapshot_id = :snapshot_id
            AND metrics.error IS NULL
            AND NOT is_rebalancing(metrics.state)
            AND member.group_id = span.group_id
            AND member.member_id = span.member_id
            AND member.identity = span.identity
    );

UPDATE member_span AS span SET until = NULL
FROM snapshot
WHERE
    snapshot.snapshot_id = :snapshot_id
    AND span.cluster = snapshot.cluster
    AND span.until = snapshot.started_at;

UPDATE member_span AS span SET until = snapshot.started_at
FROM group_metrics AS metrics
INNER JOIN snapshot ON snapshot.snapshot_id = metrics.snapshot_id
WHERE
    metrics.snapshot_id = :snapshot_id
    AND metrics.error IS NULL
    AND NOT is_rebalancing(metrics.state)
    AND span.cluster = metrics.cluster
    AND span.group_id = metrics.group_id
    AND span.until IS NULL
    AND NOT EXISTS (
        SELECT FROM member_metrics AS member
        WHERE
            member.snapshot_id = metrics.snapshot_id
            AND member.group_id = metrics.group_id
            AND member.member_id = span.member_id
    );

INSERT INTO member_span (cluster, group_id, member_id, identity, since)
SELECT
    member.cluster,
    member.group_id,
    member.member_id,
    member.identity,
    snapshot.started_at
FROM group_metrics AS metrics
INNER JOIN snapshot ON snapshot.snapshot_id = metrics.snapshot_id
INNER JOIN member_metrics AS member
    ON member.snapshot_id = metrics.snapshot_id AND member.group_id = metrics.group_id
WHERE
    metrics.snapshot_id = :snapshot_id
    AND metrics.error IS NULL
    AND NOT is_rebalancing(metrics.state)
    AND NOT EXISTS (
        SELECT FROM member_span AS span
        WHERE
            span.cluster = member.cluster
            AND span.group_id = member.group_id
            AND span.member_id = member.member_id
            AND span.until IS NULL
    )
-- neighbors in its indexes
ORDER BY member.group_id, member.member_id;

SELECT set_config('enable_nestloop', 'on', TRUE);
