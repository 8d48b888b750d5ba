-- What would have been said otherwise by another configuration or version? One row per group, what differs, and how, of past
-- days judged again (`evenkeel backfill`): the diagnosis then and by these rules, with the hours of the snapshots in which they
-- differ so; the strategy that won then and wins by these rules, in the snapshots that candidates were made of. What lasts
-- longest comes first.
--
-- Parameters:
--   :cluster text = null           Configured name of the cluster; null: every cluster.
--   :group text = null             Only this group; null: all.
--   :rules text = null             Schema of those rules, or how its name begins (`rules_<config_version>`); null: the newest made.
--   :since timestamptz = null      Only snapshots taken from then on; null: from the first.
--   :until timestamptz = null      Only snapshots taken before; null: to the last.
--   :limit integer = 100           How many rows at most.
--
-- Columns as in: snapshot, group_metrics.
-- Its own columns:
--   what text                      What differs.
--   then_was text = none           What was said then; of a winner null: none won.
--   now_is text = none             What these rules say; of a winner null: none wins.
--   snapshots integer              Number of snapshots in which it differs so.
--   hours double precision = none  Hours that those stand for; of winners null: they are looked at now and then.
--   first_at timestamptz           When the first of those was taken.
--   last_at timestamptz            When the last of those was taken.
--   rules text                     The schema of those rules: the same tables and views as here.
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
