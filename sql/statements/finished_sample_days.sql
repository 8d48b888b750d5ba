-- Past days in UTC with stored samples, oldest first; packed is true if the day is packed.
--
-- Parameters:
--   :before timestamptz  Only days that ended before this time.
-- materialized, because the names of other tables cannot be cast to a day
WITH kept AS MATERIALIZED (
    SELECT
        pg_class.oid,
        pg_class.relname
    FROM pg_inherits
    INNER JOIN pg_class ON pg_class.oid = pg_inherits.inhrelid
    WHERE pg_inherits.inhparent = 'group_sample'::regclass
)

SELECT
    listed.day,
    EXISTS (SELECT FROM pg_index WHERE pg_index.indrelid = listed.oid AND pg_index.indisclustered) AS packed
FROM (
    SELECT
        kept.oid,
        to_date(right(kept.relname, 8), 'YYYYMMDD') AS day
    FROM kept
) AS listed
WHERE (listed.day + 1)::timestamp AT TIME ZONE 'UTC' <= CAST(:before AS timestamptz)
ORDER BY listed.day;
