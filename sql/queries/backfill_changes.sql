-- What would another configuration or version have concluded? One row per group and difference, longest first, from
-- re-evaluated history (`evenkeel backfill`). A difference is another diagnosis, with the hours of the snapshots that
-- it covers, or another winning strategy, in snapshots with candidates.
--
-- Parameters:
--   :cluster text = null           Configured name of the cluster; null for all clusters.
--   :group text = null             Consumer group; null for all groups.
--   :rules text = null             Schema of the re-evaluation, or the start of its name (`rules_<config_version>`); null for the newest.
--   :since timestamptz = null      Start of the period; null for the first snapshot.
--   :until timestamptz = null      End of the period (exclusive); null for now.
--   :limit integer = 100           Maximum number of rows.
--
-- Columns as in: snapshot, group_metrics.
-- Its own columns:
--   what text                      Kind of the difference: diagnosis or winner.
--   then_was text = none           Original result; null if no strategy won.
--   now_is text = none             Result of the re-evaluation; null if no strategy wins.
--   snapshots integer              Number of snapshots with this difference.
--   hours double precision = none  Hours that these snapshots cover; null for winners, which are not computed for every snapshot.
--   first_at timestamptz           Start of the first of these snapshots.
--   last_at timestamptz            Start of the last of these snapshots.
--   rules text                     Schema of the re-evaluation, with the same tables and views as this one.
WITH chosen AS (SELECT newest_rules(CAST(:cluster AS text), CAST(:rules AS text)) AS rules),

differing AS (
    SELECT
        chosen.rules,
        said.*
    FROM chosen
    CROSS JOIN LATERAL said_otherwise(
        chosen.rules,
        CAST(:cluster AS text),
        CAST(:group AS text),
        CAST(:since AS timestamptz),
        CAST(:until AS timestamptz)
    ) AS said
),

changes AS (
    SELECT
        cluster,
        group_id,
        'diagnosis' AS what,
        diagnosis_then AS then_was,
        diagnosis AS now_is,
        count(*)::integer AS snapshots,
        sum(covered_seconds) / 3600 AS hours,
        min(taken_at) AS first_at,
        max(taken_at) AS last_at,
        config_version,
        rules
    FROM differing
    WHERE diagnosis <> diagnosis_then
    GROUP BY cluster, group_id, diagnosis_then, diagnosis, config_version, rules
    UNION ALL
    SELECT
        cluster,
        group_id,
        'winner' AS what,
        winner_then,
        winner,
        count(*)::integer,
        NULL,
        min(taken_at),
        max(taken_at),
        config_version,
        rules
    FROM differing
    WHERE other_wins
    GROUP BY cluster, group_id, winner_then, winner, config_version, rules
)

SELECT *
FROM changes
ORDER BY hours DESC NULLS LAST, snapshots DESC, cluster, group_id, what, then_was, now_is
LIMIT CAST(:limit AS integer);
