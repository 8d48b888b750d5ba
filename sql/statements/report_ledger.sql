-- The ledger beside the stored advice: one row per row of the ledger or advised snapshot, in the order of the ledger.
-- Columns of the ledger are null for a snapshot that it lacks, `found` for a snapshot that is deleted. Columns that
-- change later (until, repeats) are not part of the digests. The session must have the settings of `AS_TEXT`.
-- A column that a later migration adds must be null in older rows, or be left out here as well.
--
-- Parameters:
--   :cluster text = null      Configured name of the cluster; null for all clusters.
--   :snapshot_id text = null  Id of a snapshot; null for all snapshots.
WITH told AS (
    SELECT
        advice.snapshot_id,
        advice.group_id,
        advice.since = snapshot.started_at
        OR event.listed IS NOT NULL OR checked.listed IS NOT NULL OR regret.listed IS NOT NULL AS lasts,
        encode(sha256(convert_to(CAST(jsonb_strip_nulls(jsonb_build_object(
            'advice', to_jsonb(advice) - CAST('{advice_id,until,repeats}' AS text []),
            'moves', move.listed,
            'events', event.listed,
            'checks', checked.listed,
            'regrets', regret.listed
        )) AS text), 'UTF8')), 'hex') AS digest
    FROM snapshot
    INNER JOIN advice ON advice.snapshot_id = snapshot.snapshot_id
    CROSS JOIN LATERAL (
        SELECT jsonb_agg(to_jsonb(each) - 'advice_id' ORDER BY each.topic COLLATE "C", each.partition) AS listed
        FROM advice_move AS each WHERE each.advice_id = advice.advice_id
    ) AS move
    CROSS JOIN LATERAL (
        SELECT jsonb_agg(to_jsonb(each) - 'advice_id' ORDER BY each.state COLLATE "C") AS listed
        FROM advice_event AS each WHERE each.advice_id = advice.advice_id
    ) AS event
    CROSS JOIN LATERAL (
        SELECT jsonb_agg(to_jsonb(each) - 'advice_id' ORDER BY each.after_seconds, each.measure COLLATE "C") AS listed
        FROM advice_check AS each WHERE each.advice_id = advice.advice_id
    ) AS checked
    CROSS JOIN LATERAL (
        SELECT jsonb_agg(to_jsonb(each) - 'advice_id' ORDER BY each.since) AS listed
        FROM advice_regret AS each WHERE each.advice_id = advice.advice_id
    ) AS regret
    WHERE
        (CAST(:cluster AS text) IS NULL OR snapshot.cluster = CAST(:cluster AS text))
        AND (CAST(:snapshot_id AS text) IS NULL OR snapshot.snapshot_id = CAST(:snapshot_id AS text))
),

found AS (
    SELECT
        snapshot.cluster,
        snapshot.snapshot_id,
        snapshot.started_at AS taken_at,
        snapshot.thinned_at IS NOT NULL AS is_thinned,
        count(told.digest) AS groups,
        encode(sha256(convert_to(
            coalesce(string_agg(told.digest, ' ' ORDER BY told.group_id COLLATE "C"), ''), 'UTF8'
        )), 'hex') AS digest,
        count(told.digest) FILTER (WHERE told.lasts) AS lasting_groups,
        encode(sha256(convert_to(
            coalesce(string_agg(told.digest, ' ' ORDER BY told.group_id COLLATE "C") FILTER (WHERE told.lasts), ''), 'UTF8'
        )), 'hex') AS lasting_digest
    FROM snapshot
    LEFT JOIN told ON told.snapshot_id = snapshot.snapshot_id
    WHERE
        snapshot.advised_at IS NOT NULL
        AND (CAST(:cluster AS text) IS NULL OR snapshot.cluster = CAST(:cluster AS text))
        AND (CAST(:snapshot_id AS text) IS NULL OR snapshot.snapshot_id = CAST(:snapshot_id AS text))
    GROUP BY snapshot.snapshot_id
),

written AS (
    SELECT * FROM ledger
    WHERE
        (CAST(:cluster AS text) IS NULL OR ledger.cluster = CAST(:cluster AS text))
        AND (CAST(:snapshot_id AS text) IS NULL OR ledger.snapshot_id = CAST(:snapshot_id AS text))
)

SELECT
    to_jsonb(written) AS written,
    to_jsonb(found) AS found,
    now() AS now
FROM written
FULL JOIN found ON found.snapshot_id = written.snapshot_id
ORDER BY coalesce(written.cluster, found.cluster), written.number, found.taken_at;
