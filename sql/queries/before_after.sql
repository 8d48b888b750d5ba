-- What changed at a moment, such as a deployment at 14:00? One row per group and period: before the moment, and after
-- it. Groups that are new or gone come first, and those with another diagnosis or number of members, then the largest
-- change of time lag, then of lag. Lag, time lag and rates are medians of the snapshots, `members` those of the last
-- one, `diagnosis` is the commonest one. Lag is in offsets, rates are in offsets per second.
--
-- Parameters:
--   :at timestamptz               The moment.
--   :cluster text = null          Configured name of the cluster; null for all clusters.
--   :group text = null            Consumer group; null for all groups.
--   :hours double precision = 1   Length of both periods in hours.
--   :limit integer = 20           Maximum number of groups.
--
-- Columns as in: lag_history.
-- Its own columns:
--   period text           before or after.
--   diagnosis text        Commonest diagnosis of the snapshots.
--   snapshots bigint      Number of snapshots.
--   first_at timestamptz  Start of the first snapshot.
--   last_at timestamptz   Start of the last snapshot.
WITH seen AS (
    SELECT
        history.cluster,
        history.group_id,
        history.taken_at < CAST(:at AS timestamptz) AS is_before,
        history.taken_at,
        history.total_lag,
        history.time_lag_seconds,
        history.production_per_second,
        history.consumption_per_second,
        history.members,
        coalesce(history.diagnosis, 'unknown') AS diagnosis
    FROM lag_history AS history
    WHERE
        (CAST(:cluster AS text) IS NULL OR history.cluster = CAST(:cluster AS text))
        AND (CAST(:group AS text) IS NULL OR history.group_id = CAST(:group AS text))
        AND history.taken_at >= CAST(:at AS timestamptz) - make_interval(secs => 3600 * CAST(:hours AS double precision))
        AND history.taken_at < CAST(:at AS timestamptz) + make_interval(secs => 3600 * CAST(:hours AS double precision))
),

sides AS (
    SELECT
        cluster,
        group_id,
        is_before,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY total_lag) AS total_lag,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY time_lag_seconds) AS time_lag_seconds,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY production_per_second) AS production_per_second,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY consumption_per_second) AS consumption_per_second,
        (array_agg(members ORDER BY taken_at DESC) FILTER (WHERE members IS NOT NULL))[1] AS members,
        mode() WITHIN GROUP (ORDER BY diagnosis) AS diagnosis,
        count(*) AS snapshots,
        min(taken_at) AS first_at,
        max(taken_at) AS last_at
    FROM seen
    GROUP BY cluster, group_id, is_before
),

ranked AS (
    SELECT
        cluster,
        group_id,
        row_number() OVER (
            ORDER BY
                count(*) = 1 OR min(diagnosis) <> max(diagnosis) OR coalesce(min(members) <> max(members), false) DESC,
                max(time_lag_seconds) - min(time_lag_seconds) DESC NULLS LAST,
                max(total_lag) - min(total_lag) DESC NULLS LAST,
                cluster,
                group_id
        ) AS place
    FROM sides
    GROUP BY cluster, group_id
)

SELECT
    sides.cluster,
    sides.group_id,
    CASE WHEN sides.is_before THEN 'before' ELSE 'after' END AS period,
    sides.total_lag,
    sides.time_lag_seconds,
    sides.diagnosis,
    sides.members,
    sides.consumption_per_second,
    sides.production_per_second,
    sides.snapshots,
    sides.first_at,
    sides.last_at
FROM ranked
INNER JOIN sides ON sides.cluster = ranked.cluster AND sides.group_id = ranked.group_id
WHERE ranked.place <= CAST(:limit AS integer)
ORDER BY ranked.place, sides.is_before DESC;
