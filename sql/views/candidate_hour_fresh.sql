-- One row per snapshot of an hour of candidate_hour that has to be rolled up, or rolled up again because of a new
-- snapshot. Other views and the maintenance read it. An hour whose samples are deleted is not computed again, nor is
-- one of a day whose hours are deleted.
--
-- Columns as in: snapshot.
-- Its own columns:
--   since timestamptz  Start of the hour.
CREATE OR REPLACE VIEW candidate_hour_fresh AS
WITH taken AS MATERIALIZED (
    SELECT
        snapshot.snapshot_id,
        snapshot.cluster,
        date_bin('1 hour', snapshot.started_at, '2000-01-01 00:00:00+00') AS since,
        count(*) OVER (
            PARTITION BY snapshot.cluster, date_bin('1 hour', snapshot.started_at, '2000-01-01 00:00:00+00')
        ) AS samples
    FROM snapshot
    WHERE
        EXISTS (SELECT FROM candidate_sample AS sample WHERE sample.snapshot_id = snapshot.snapshot_id)
        AND EXISTS (
            SELECT FROM snapshot AS fresh
            WHERE
                fresh.cluster = snapshot.cluster
                AND fresh.measured_at IS NOT NULL
                AND fresh.rolled_up_at IS NULL
                AND date_bin('1 hour', fresh.started_at, '2000-01-01 00:00:00+00')
                = date_bin('1 hour', snapshot.started_at, '2000-01-01 00:00:00+00')
        )
),

hours AS MATERIALIZED (
    SELECT DISTINCT
        taken.cluster,
        taken.since,
        taken.samples
    FROM taken
)

SELECT
    taken.snapshot_id,
    taken.cluster,
    taken.since
FROM hours
INNER JOIN taken ON taken.cluster = hours.cluster AND taken.since = hours.since
WHERE
    hours.samples >= coalesce((
        SELECT max(counted.snapshots)
        FROM candidate_hour AS made
        CROSS JOIN LATERAL unnest(made.snapshots) AS counted (snapshots)
        WHERE made.cluster = hours.cluster AND made.since = hours.since
    ), 0)
    AND (
        NOT EXISTS (
            SELECT FROM candidate_day AS made
            WHERE
                made.cluster = hours.cluster
                AND made.since = date_bin('1 day', hours.since, '2000-01-01 00:00:00+00')
        )
        OR EXISTS (
            SELECT FROM candidate_hour AS kept
            WHERE
                kept.cluster = hours.cluster
                AND kept.since >= date_bin('1 day', hours.since, '2000-01-01 00:00:00+00')
                AND kept.since < date_bin('1 day', hours.since, '2000-01-01 00:00:00+00') + interval '24 hours'
        )
    );
