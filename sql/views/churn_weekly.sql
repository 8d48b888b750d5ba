-- One row per group and week (starting on Monday, UTC): membership changes and the partitions that they moved.
-- changed_snapshots is a lower bound of the number of rebalances. would_have_moved has the moves with other
-- strategies, each with the number of changes that could be replayed.
--
-- Columns as in: group_day.
-- Its own columns:
--   week timestamptz  Start of the week, on Monday in UTC.
--   days integer      Number of days of the week in the row.
CREATE OR REPLACE VIEW churn_weekly AS
SELECT
    weeks.cluster,
    weeks.group_id,
    weeks.week,
    weeks.days,
    weeks.snapshots,
    weeks.rebalancing_snapshots,
    weeks.compared_snapshots,
    weeks.changed_snapshots,
    weeks.members_joined,
    weeks.members_left,
    weeks.members_restarted,
    weeks.partitions_moved,
    (
        SELECT coalesce(jsonb_agg(to_jsonb(summed) ORDER BY summed.strategy), '[]')
        FROM (
            SELECT
                each.strategy,
                sum(each.moves)::bigint AS moves,
                sum(each.changes)::bigint AS changes
            FROM unnest(weeks.replays) AS listed (day)
            CROSS JOIN LATERAL jsonb_to_recordset(listed.day) AS each (strategy text, moves bigint, changes bigint)
            GROUP BY each.strategy
        ) AS summed
    ) AS would_have_moved
FROM (
    SELECT
        trend.cluster,
        trend.group_id,
        date_bin('7 days', trend.since, '2000-01-03 00:00:00+00') AS week,
        count(*)::integer AS days,
        sum(trend.snapshots)::integer AS snapshots,
        sum(trend.rebalancing_snapshots)::integer AS rebalancing_snapshots,
        sum(trend.compared_snapshots)::integer AS compared_snapshots,
        sum(trend.changed_snapshots)::integer AS changed_snapshots,
        sum(trend.members_joined)::integer AS members_joined,
        sum(trend.members_left)::integer AS members_left,
        sum(trend.members_restarted)::integer AS members_restarted,
        sum(trend.partitions_moved)::integer AS partitions_moved,
        array_agg(trend.would_have_moved) AS replays
    FROM group_lag_trend AS trend
    WHERE trend.per = 'day'
    GROUP BY trend.cluster, trend.group_id, date_bin('7 days', trend.since, '2000-01-03 00:00:00+00')
) AS weeks;
