-- The tables of `group_sample`, one for each day in UTC: made, packed and dropped one by one. `evenkeel admin migrate` makes these
-- functions what this file says.

-- The table of the day of a moment, where there is none yet. Who reads or writes other days is not held up by it.
CREATE OR REPLACE FUNCTION make_sample_day(moment timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    first timestamptz := date_bin('1 day', moment, '2000-01-01 00:00:00+00');
    name text := 'group_sample_' || to_char(first AT TIME ZONE 'UTC', 'YYYYMMDD');
BEGIN
    IF to_regclass(quote_ident(name)) IS NOT NULL THEN RETURN; END IF;
    PERFORM pg_advisory_xact_lock(hashtext('group_sample'));
    -- by now another may have made it: rows are asked, for a name that was not there is remembered as such
    IF EXISTS (
        SELECT FROM pg_inherits INNER JOIN pg_class ON pg_class.oid = inhrelid
        WHERE inhparent = 'group_sample'::regclass AND relname = name
    ) THEN RETURN; END IF;
    EXECUTE format('CREATE TABLE %I (LIKE group_sample INCLUDING ALL)', name);
    EXECUTE format('ALTER TABLE group_sample ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
        name, first, first + interval '24 hours');
END $$;

-- Both need a table for themselves. Behind who waits for that all others wait, so it is given up before the server looks
-- for a deadlock (deadlock_timeout, a second), and false is returned.

-- Packs the table of a day: the rows of a group lie together then, and nothing between. Who asks for that day waits meanwhile.
CREATE OR REPLACE FUNCTION pack_sample_day(day date) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '500ms' AS $$
DECLARE
    name text := 'group_sample_' || to_char(day, 'YYYYMMDD');
BEGIN
    EXECUTE format('CLUSTER %I USING %I', name, name || '_pkey');
    EXECUTE format('ANALYZE %I', name);
    RETURN TRUE;
EXCEPTION WHEN lock_not_available THEN
    RETURN FALSE;
END $$;

-- Drops the table of a day.
CREATE OR REPLACE FUNCTION drop_sample_day(day date) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '500ms' AS $$
BEGIN
    EXECUTE format('DROP TABLE %I', 'group_sample_' || to_char(day, 'YYYYMMDD'));
    RETURN TRUE;
EXCEPTION WHEN lock_not_available THEN
    RETURN FALSE;
END $$;
