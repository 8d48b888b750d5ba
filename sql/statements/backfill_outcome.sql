-- How many groups the newest run of a backfill has judged, and of how many it says something else than was said then: one row.
--
-- Parameters:
--   :backfill_id bigint  The backfill.
--   :groups_regex text   Regular expression of its groups.
WITH judged AS (
    SELECT
        made.group_id,
        bool_or(made.differs) AS differs
    FROM backfill
    INNER JOIN backfilled_group AS made
        ON
            made.backfill_id = backfill.backfill_id
            AND made.taken_at >= backfill.since
            AND made.taken_at < backfill.until
            AND made.group_id ~ CAST(:groups_regex AS text)
    WHERE backfill.backfill_id = :backfill_id
    GROUP BY made.group_id
)

SELECT
    count(*)::integer AS groups,
    count(*) FILTER (WHERE differs)::integer AS differing
FROM judged;
