-- How good was the advice? One row per cluster, score and time after the adoption (an hour and a day), with its target;
-- value is null without a case. switches_that_paid and harm: shares of the switches that were advised, adopted and compared with
-- a replay of the assignment before. A switch paid if it certainly saved lag (saved_low above 0). It did harm if it
-- certainly cost more than it saved (saved_high below 0). A switch for racks alone paid if the cross-rack share fell, and
-- did harm if it rose. A chance is a time in which the best switch would have saved lag, or an adopted switch; it counts
-- with its first hour (or day). recall: share of the chances that certainly saved lag, and at least :gain of it, in which
-- a switch was recommended within an hour. regret: lag that switches would have saved but did not, divided by what all
-- could have saved. coverage: share of the lag forecasts for 15 minutes and one hour
-- with the actual lag in p10 to p90; after a day, those of adopted advice. coverage_of_worst_tenth: the same for the
-- tenth of the groups with the lowest, of groups with 100 forecasts. wobble: advice that was withdrawn and given again
-- within a day. messages: without edits. Both are per 1,000 group-days.
--
-- Parameters:
--   :cluster text = null            Configured name of the cluster; null for all clusters.
--   :hours double precision = 720   Length of the period in hours.
--   :until timestamptz = null       End of the period; null for now.
--   :gain double precision = 0.2    Share of the lag that a switch must save to count for recall (policy key lag_gain).
--
-- Columns as in: ledger.
-- Its own columns:
--   score text                           Name of the score.
--   after_seconds integer = none         Seconds after the adoption; null if the score has none.
--   value double precision (ratio)       The score.
--   at_least double precision = none     Lower limit of the target; null if there is none.
--   at_most double precision = none      Upper limit of the target; null if there is none.
--   cases bigint                         Number of switches, chances, forecasts, groups or group-days.
--   worst_group text = none              Group of the case that harms the score most; null if there is none.
--   worst_at timestamptz = none          Time of the worst case.
--   worst_value double precision = none  Its value: saved or missed lag in lag-seconds, coverage, or number of repetitions.
--   since timestamptz                    Start of the first snapshot.
--   until timestamptz                    Start of the last snapshot.
--   snapshots bigint                     Number of snapshots.
--   group_days double precision          Days that they cover, summed over groups.
WITH period AS (
    SELECT
        coalesce(CAST(:until AS timestamptz), now()) AS ends_at,
        coalesce(CAST(:until AS timestamptz), now())
        - make_interval(secs => 3600 * CAST(:hours AS double precision)) AS begins_at
),

entry AS (
    SELECT
        ledger.cluster,
        ledger.snapshot_id,
        ledger.number,
        ledger.taken_at,
        -- a snapshot covers the time since the one before, at most an hour
        ledger.groups * least(coalesce(extract(
            epoch FROM ledger.taken_at - lag(ledger.taken_at) OVER (PARTITION BY ledger.cluster ORDER BY ledger.taken_at)
        ), 0), 3600) / 86400 AS group_days
    FROM ledger
    CROSS JOIN period
    -- outcomes are kept as long as snapshots are
    INNER JOIN snapshot ON snapshot.snapshot_id = ledger.snapshot_id
    WHERE
        ledger.taken_at > period.begins_at
        AND ledger.taken_at <= period.ends_at
        AND (CAST(:cluster AS text) IS NULL OR ledger.cluster = CAST(:cluster AS text))
),

extent AS (
    SELECT
        cluster,
        min(taken_at) AS since,
        max(taken_at) AS until,
        count(*) AS snapshots,
        sum(group_days)::double precision AS group_days
    FROM entry
    GROUP BY cluster
),

checked AS (
    SELECT
        advice.cluster,
        advice.group_id,
        outcome.adopted_at,
        outcome.after_seconds,
        outcome.measure,
        outcome.actual,
        outcome.actual BETWEEN outcome.low AND outcome.high AS held,
        outcome.saved_low,
        coalesce(outcome.saved, greatest(outcome.saved_low, 0)) AS saved,
        outcome.saved_high,
        -- null unless the advice was for racks alone
        CAST(advice.course -> 'uptakes' -> -1 ->> 'crossed' AS double precision) AS crossed
    FROM advice_check AS outcome
    INNER JOIN advice ON advice.advice_id = outcome.advice_id
    INNER JOIN entry ON entry.snapshot_id = advice.snapshot_id
    WHERE
        outcome.after_seconds IN (3600, 86400)
        AND EXISTS (
            SELECT FROM advice_event AS event
            INNER JOIN advice AS told ON told.advice_id = event.advice_id
            INNER JOIN ledger AS written ON written.snapshot_id = told.snapshot_id
            WHERE
                told.cluster = advice.cluster
                AND told.group_id = advice.group_id
                AND event.strategy = outcome.strategy
                AND event.state = 'confirmed'
                AND event.at <= outcome.adopted_at
                AND written.number < entry.number
        )
),

switch AS (
    SELECT
        cluster,
        group_id,
        adopted_at,
        after_seconds,
        CASE WHEN crossed IS NULL THEN saved_low > 0 ELSE actual < crossed END AS paid,
        CASE WHEN crossed IS NULL THEN saved_high < 0 ELSE actual > crossed END AS harmed,
        CASE WHEN crossed IS NULL THEN saved END AS saved
    FROM checked
    WHERE
        CASE
            WHEN crossed IS NULL THEN measure = 'lag' AND saved_low IS NOT NULL AND saved_high IS NOT NULL
            ELSE measure = 'cross_rack_share' AND actual IS NOT NULL
        END
),

-- parts of hours with or without advice in which the group did not switch, and switches, each once per time after it
part AS (
    SELECT
        lasts.after_seconds,
        advice.cluster,
        advice.group_id,
        regret.since AS at,
        regret.until,
        FALSE AS adopted,
        -- within the hour is soon enough
        coalesce(regret.state = 'confirmed', FALSE) OR coalesce(advice.state IN ('confirmed', 'adopted'), FALSE) AS told,
        regret.came,
        regret.saved_low,
        coalesce(regret.saved, greatest(regret.saved_low, 0)) AS saved
    FROM advice_regret AS regret
    INNER JOIN advice ON advice.advice_id = regret.advice_id
    INNER JOIN entry ON entry.snapshot_id = advice.snapshot_id
    CROSS JOIN (VALUES (3600), (86400)) AS lasts (after_seconds)
    UNION ALL
    (
        SELECT DISTINCT ON (lasts.after_seconds, switch.cluster, switch.group_id, switch.adopted_at)
            lasts.after_seconds,
            switch.cluster,
            switch.group_id,
            switch.adopted_at,
            switch.adopted_at,
            TRUE,
            TRUE,
            0,
            switch.saved,
            switch.saved
        FROM switch
        INNER JOIN (VALUES (3600), (86400)) AS lasts (after_seconds) ON switch.after_seconds <= lasts.after_seconds
        WHERE switch.saved IS NOT NULL
        ORDER BY
            lasts.after_seconds, switch.cluster, switch.group_id, switch.adopted_at, switch.after_seconds DESC
    )
),

-- parts without a switch or an hour between them are one chance
begun AS (
    SELECT
        part.*,
        coalesce(
            part.adopted OR lag(part.adopted) OVER earlier
            OR part.at > lag(part.until) OVER earlier + interval '1 hour', TRUE
        ) AS begins
    FROM part
    WINDOW earlier AS (PARTITION BY part.after_seconds, part.cluster, part.group_id ORDER BY part.at, part.adopted)
),

numbered AS (
    SELECT
        begun.*,
        count(*) FILTER (WHERE begins) OVER (
            PARTITION BY after_seconds, cluster, group_id ORDER BY at, adopted ROWS UNBOUNDED PRECEDING
        ) AS number
    FROM begun
),

-- a chance counts with its first hour, or day, as a switch does
chance AS (
    SELECT
        after_seconds,
        cluster,
        group_id,
        begun_at AS at,
        bool_or(told) AS told,
        bool_or(adopted) AS adopted,
        sum(came) AS came,
        sum(saved_low) AS saved_low,
        sum(saved) AS saved,
        sum(greatest(saved, 0)) AS could
    FROM (
        SELECT
            numbered.*,
            min(at) OVER (PARTITION BY after_seconds, cluster, group_id, number) AS begun_at
        FROM numbered
    ) AS listed
    WHERE at < begun_at + make_interval(secs => after_seconds)
    GROUP BY after_seconds, cluster, group_id, number, begun_at
),

missed AS (
    SELECT
        after_seconds,
        cluster,
        group_id,
        sum(could) FILTER (WHERE NOT adopted) AS missed,
        sum(could) AS could,
        count(*) FILTER (WHERE could > 0) AS cases
    FROM chance
    GROUP BY after_seconds, cluster, group_id
),

sample AS (
    SELECT
        history.cluster,
        history.group_id,
        history.taken_at,
        history.forecast_soon_lag_low,
        history.forecast_soon_lag_high,
        history.forecast_lag_low,
        history.forecast_lag_high,
        -- samples have seven digits of a forecast
        history.total_lag::real AS lag,
        count(*) FILTER (WHERE history.reassigned) OVER (
            PARTITION BY history.cluster, history.group_id ORDER BY history.taken_at
        ) AS assignments
    FROM lag_history AS history
    CROSS JOIN period
    WHERE
        history.taken_at > period.begins_at
        AND history.taken_at <= period.ends_at
        AND (CAST(:cluster AS text) IS NULL OR history.cluster = CAST(:cluster AS text))
),

-- the first snapshot that is due, which starts a little early at most
later AS (
    SELECT
        sample.*,
        first_value(lag) OVER soon AS soon_lag,
        first_value(assignments) OVER soon AS soon_assignments,
        first_value(lag) OVER hour AS hour_lag,
        first_value(assignments) OVER hour AS hour_assignments
    FROM sample
    WINDOW
        soon AS (
            PARTITION BY cluster, group_id ORDER BY taken_at
            RANGE BETWEEN interval '885 seconds' FOLLOWING AND interval '990 seconds' FOLLOWING
        ),
        hour AS (
            PARTITION BY cluster, group_id ORDER BY taken_at
            RANGE BETWEEN interval '3540 seconds' FOLLOWING AND interval '3960 seconds' FOLLOWING
        )
),

-- a forecast is that of one assignment
predicted AS (
    SELECT later.cluster, later.group_id, later.taken_at, came.lag BETWEEN came.low::real AND came.high::real AS held
    FROM later
    CROSS JOIN LATERAL (
        VALUES
        (forecast_soon_lag_low, forecast_soon_lag_high, soon_lag, soon_assignments),
        (forecast_lag_low, forecast_lag_high, hour_lag, hour_assignments)
    ) AS came (low, high, lag, assignments)
    WHERE came.low IS NOT NULL AND came.lag IS NOT NULL AND came.assignments = later.assignments
),

held AS (
    SELECT 3600 AS after_seconds, cluster, group_id, taken_at AS at, held FROM predicted
    UNION ALL
    SELECT after_seconds, cluster, group_id, adopted_at, held FROM checked
    WHERE after_seconds = 86400 AND measure = 'lag' AND held IS NOT NULL
),

group_coverage AS (
    SELECT
        after_seconds,
        cluster,
        group_id,
        avg(held::integer)::double precision AS share,
        row_number() OVER (PARTITION BY after_seconds, cluster ORDER BY avg(held::integer), group_id) AS place,
        count(*) OVER (PARTITION BY after_seconds, cluster) AS groups
    FROM held
    GROUP BY after_seconds, cluster, group_id
    HAVING count(*) >= 100
),

wobbled AS (
    SELECT
        advice.cluster,
        advice.group_id,
        min(event.at) AS at,
        count(*) AS times
    FROM advice_event AS event
    INNER JOIN advice ON advice.advice_id = event.advice_id
    INNER JOIN entry ON entry.snapshot_id = advice.snapshot_id
    WHERE
        event.state = 'withdrawn'
        AND EXISTS (
            SELECT FROM advice_event AS again
            INNER JOIN advice AS told ON told.advice_id = again.advice_id
            WHERE
                told.cluster = advice.cluster
                AND told.group_id = advice.group_id
                AND again.state = 'confirmed'
                AND again.at > event.at
                AND again.at <= event.at + interval '1 day'
        )
    GROUP BY advice.cluster, advice.group_id
),

message AS (
    SELECT
        history.cluster,
        count(*) AS messages
    FROM message_history AS history
    CROSS JOIN period
    WHERE
        history.state <> 'superseded'
        AND NOT history.is_edit
        AND coalesce(history.taken_at, history.created_at) > period.begins_at
        AND coalesce(history.taken_at, history.created_at) <= period.ends_at
        AND (CAST(:cluster AS text) IS NULL OR history.cluster = CAST(:cluster AS text))
    GROUP BY history.cluster
),

result AS (
    SELECT
        'switches_that_paid' AS score,
        cluster,
        after_seconds,
        avg(paid::integer)::double precision AS value,
        count(*) AS cases
    FROM switch
    GROUP BY cluster, after_seconds
    UNION ALL
    SELECT 'harm', cluster, after_seconds, avg(harmed::integer), count(*) FROM switch
    GROUP BY cluster, after_seconds
    UNION ALL
    SELECT 'recall', cluster, after_seconds, avg(told::integer), count(*) FROM chance
    WHERE saved_low > 0 AND saved >= CAST(:gain AS double precision) * came
    GROUP BY cluster, after_seconds
    UNION ALL
    SELECT 'regret', cluster, after_seconds, coalesce(sum(missed), 0) / nullif(sum(could), 0), sum(cases)::bigint
    FROM missed
    GROUP BY cluster, after_seconds
    UNION ALL
    SELECT 'coverage', cluster, after_seconds, avg(held::integer), count(*) FROM held
    GROUP BY cluster, after_seconds
    UNION ALL
    SELECT 'coverage_of_worst_tenth', cluster, after_seconds, avg(share), count(*) FROM group_coverage
    WHERE place <= ceil(groups / 10.0)
    GROUP BY cluster, after_seconds
    UNION ALL
    SELECT
        'wobble',
        extent.cluster,
        NULL,
        1000 * coalesce(sum(wobbled.times), 0) / nullif(extent.group_days, 0),
        floor(extent.group_days)::bigint
    FROM extent LEFT JOIN wobbled ON wobbled.cluster = extent.cluster
    GROUP BY extent.cluster, extent.group_days
    UNION ALL
    SELECT
        'messages',
        extent.cluster,
        NULL,
        1000 * coalesce(message.messages, 0) / nullif(extent.group_days, 0),
        floor(extent.group_days)::bigint
    FROM extent LEFT JOIN message ON message.cluster = extent.cluster
),

example AS (
    SELECT DISTINCT ON (score, cluster, after_seconds) score, after_seconds, cluster, group_id, at, value
    FROM (
        SELECT 'switches_that_paid' AS score, after_seconds, cluster, group_id, adopted_at AS at, saved AS value, saved AS badness
        FROM switch WHERE NOT paid
        UNION ALL
        SELECT 'harm', after_seconds, cluster, group_id, adopted_at, saved, saved FROM switch
        WHERE harmed
        UNION ALL
        SELECT 'recall', after_seconds, cluster, group_id, at, saved, -saved FROM chance
        WHERE NOT told AND saved_low > 0 AND saved >= CAST(:gain AS double precision) * came
        UNION ALL
        SELECT 'regret', after_seconds, cluster, group_id, NULL, missed, -missed FROM missed
        WHERE missed > 0
        UNION ALL
        SELECT names.score, after_seconds, cluster, group_id, NULL, share, place FROM group_coverage
        CROSS JOIN (VALUES ('coverage'), ('coverage_of_worst_tenth')) AS names (score)
        UNION ALL
        SELECT 'wobble', NULL, cluster, group_id, at, times, -times FROM wobbled
    ) AS listed
    ORDER BY score, cluster, after_seconds, badness NULLS LAST, group_id, at
)

SELECT
    extent.cluster,
    wanted.score,
    wanted.after_seconds,
    result.value,
    wanted.at_least,
    wanted.at_most,
    coalesce(result.cases, 0) AS cases,
    example.group_id AS worst_group,
    example.at AS worst_at,
    example.value::double precision AS worst_value,
    extent.since,
    extent.until,
    extent.snapshots,
    extent.group_days
FROM extent
CROSS JOIN (
    VALUES
    (1, 'switches_that_paid', 3600, 0.95::double precision, NULL::double precision),
    (1, 'switches_that_paid', 86400, 0.95, NULL),
    (2, 'harm', 3600, NULL, 0.01),
    (2, 'harm', 86400, NULL, 0.01),
    (3, 'recall', 3600, 0.8, NULL),
    (3, 'recall', 86400, 0.8, NULL),
    (4, 'regret', 3600, NULL, 0.2),
    (4, 'regret', 86400, NULL, 0.2),
    (5, 'coverage', 3600, 0.75, 0.85),
    (5, 'coverage', 86400, 0.75, 0.85),
    (6, 'coverage_of_worst_tenth', 3600, 0.7, NULL),
    (6, 'coverage_of_worst_tenth', 86400, 0.7, NULL),
    (7, 'wobble', NULL, NULL, NULL),
    (8, 'messages', NULL, NULL, NULL)
) AS wanted (place, score, after_seconds, at_least, at_most)
LEFT JOIN result
    ON
        result.cluster = extent.cluster
        AND result.score = wanted.score
        AND result.after_seconds IS NOT DISTINCT FROM wanted.after_seconds
LEFT JOIN example
    ON
        example.cluster = extent.cluster
        AND example.score = wanted.score
        AND example.after_seconds IS NOT DISTINCT FROM wanted.after_seconds
ORDER BY extent.cluster, wanted.place, wanted.after_seconds;
