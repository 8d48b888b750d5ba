-- What would have been said otherwise by another configuration or version? One row per group, what differs, and how, of a
-- backfill (`evenkeel backfill`): the diagnosis then and by these rules, with the hours of the snapshots in which they
-- differ so; the strategy that won then and wins by these rules, in the snapshots that candidates were made of. What lasts
-- longest comes first.
--
-- Parameters:
--   :cluster text = null           Configured name of the cluster; null: every cluster.
--   :group text = null             Only this group; null: all.
--   :config_version text = null    Hash of the configuration; null: that of the newest backfill of each cluster.
--   :since timestamptz = null      Only snapshots taken from then on; null: from the first.
--   :until timestamptz = null      Only snapshots taken before; null: to the last.
--   :limit integer = 100           How many rows at most.
--
-- Columns as in: backfill_history.
-- Its own columns:
--   what text                      What differs.
--   then_was text = none           What was said then; of a winner null: none won.
--   now_is text = none             What these rules say; of a winner null: none wins.
--   snapshots integer              Number of snapshots in which it differs so.
--   hours double precision = none  Hours that those stand for; of winners null: they are looked at now and then.
--   first_at timestamptz           When the first of those was taken.
--   last_at timestamptz            When the last of those was taken.
--   diagnosis_reason text = none   Names and numbers of the last of those.
WITH chosen AS (
    SELECT DISTINCT ON (cluster)
        backfill_id,
        cluster,
        config_version,
        evenkeel_version
    FROM backfill
    WHERE
        (CAST(:cluster AS text) IS NULL OR cluster = CAST(:cluster AS text))
        AND (CAST(:config_version AS text) IS NULL OR config_version = CAST(:config_version AS text))
    ORDER BY cluster, started_at DESC
),

differing AS (
    SELECT
        chosen.cluster,
        chosen.config_version,
        chosen.evenkeel_version,
        made.*
    FROM chosen
    INNER JOIN backfilled_group AS made ON made.backfill_id = chosen.backfill_id
    WHERE
        made.differs
        AND (CAST(:group AS text) IS NULL OR made.group_id = CAST(:group AS text))
        AND (CAST(:since AS timestamptz) IS NULL OR made.taken_at >= CAST(:since AS timestamptz))
        AND (CAST(:until AS timestamptz) IS NULL OR made.taken_at < CAST(:until AS timestamptz))
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
        (array_agg(diagnosis_reason ORDER BY taken_at DESC))[1] AS diagnosis_reason,
        config_version,
        evenkeel_version
    FROM differing
    WHERE diagnosis <> diagnosis_then
    GROUP BY cluster, group_id, diagnosis_then, diagnosis, config_version, evenkeel_version
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
        NULL,
        config_version,
        evenkeel_version
    FROM differing
    WHERE is_judged AND was_judged AND winner IS DISTINCT FROM winner_then
    GROUP BY cluster, group_id, winner_then, winner, config_version, evenkeel_version
)

SELECT *
FROM changes
ORDER BY hours DESC NULLS LAST, snapshots DESC, cluster, group_id, what, then_was, now_is
LIMIT CAST(:limit AS integer);
