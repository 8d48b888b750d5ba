-- Functions of the history database. `evenkeel admin migrate` creates or replaces them.
--
-- The first three manage the tables of `group_sample`, one per day in UTC.

-- Creates the table for the day of a moment, if it doesn't exist. Readers and writers of other days are not blocked.
CREATE OR REPLACE FUNCTION make_sample_day(moment timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    first timestamptz := date_bin('1 day', moment, '2000-01-01 00:00:00+00');
    name text := 'group_sample_' || to_char(first AT TIME ZONE 'UTC', 'YYYYMMDD');
BEGIN
    IF to_regclass(quote_ident(name)) IS NOT NULL THEN RETURN; END IF;
    -- readers cannot take this lock, and it blocks no reads or writes
    LOCK TABLE ONLY group_sample IN SHARE UPDATE EXCLUSIVE MODE;
    -- another session may have created it meanwhile; the catalog is queried, because the missing name is cached
    IF EXISTS (
        SELECT FROM pg_inherits INNER JOIN pg_class ON pg_class.oid = inhrelid
        WHERE inhparent = 'group_sample'::regclass AND relname = name
    ) THEN RETURN; END IF;
    EXECUTE format('CREATE TABLE %I (LIKE group_sample INCLUDING ALL)', name);
    EXECUTE format('ALTER TABLE group_sample ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
        name, first, first + interval '24 hours');
END $$;

-- Whether a moment is past, within the skew of clocks (`CLOCKS_APART`). A snapshot for which it isn't was taken while a
-- clock was ahead.
CREATE OR REPLACE FUNCTION has_come(moment timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT moment <= now() + interval '10 minutes'
$$;

-- Whether a group in this state is changing its assignment: its members and what they own are not final.
CREATE OR REPLACE FUNCTION is_rebalancing(state text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT state IN ('PreparingRebalance', 'CompletingRebalance', 'Assigning', 'Reconciling')
$$;

-- The next two need an exclusive lock, and other sessions queue behind a waiting one. They therefore return false if they
-- don't get it before the server checks for deadlocks (deadlock_timeout, one second).

-- Packs the table of a day, so that the rows of a group are adjacent. Readers of that day wait meanwhile.
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

-- Deletes the rows of deleted snapshots from the tables with many rows per group. A foreign key would delete them too, but
-- is checked for every inserted row, which takes half of the time of a load.
CREATE OR REPLACE FUNCTION delete_rows_of_snapshots() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['member_metrics', 'partition_block', 'partition_worst', 'candidate'] LOOP
        EXECUTE format('DELETE FROM %I.%I AS own USING gone WHERE own.snapshot_id = gone.snapshot_id',
            TG_TABLE_SCHEMA, name);
    END LOOP;
    RETURN NULL;
END $$;

-- only where it is missing, because replacing it would wait for writers
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'snapshot'::regclass AND tgname = 'snapshot_deleted') THEN
        CREATE TRIGGER snapshot_deleted AFTER DELETE ON snapshot REFERENCING OLD TABLE AS gone
        FOR EACH STATEMENT EXECUTE FUNCTION delete_rows_of_snapshots();
    END IF;
END $$;

-- A re-evaluation of past days with other rules is stored in a schema of its own (`rules_...`).

-- Drops such a schema, unless a session uses it.
CREATE OR REPLACE FUNCTION drop_rules(rules text) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '500ms' AS $$
BEGIN
    EXECUTE format('DROP SCHEMA %I CASCADE', rules);
    RETURN TRUE;
EXCEPTION WHEN lock_not_available THEN
    RETURN FALSE;
END $$;

-- These functions are for steps, the others for queries.
REVOKE EXECUTE ON FUNCTION
make_sample_day(timestamptz), pack_sample_day(date), drop_sample_day(date), drop_rules(text), delete_rows_of_snapshots()
FROM public;

-- Rows of the ledger are only added.
REVOKE UPDATE, DELETE, TRUNCATE ON ledger FROM CURRENT_USER;

-- Name of such a schema with snapshots of a cluster: the one with the given name, otherwise the newest one whose name starts
-- with it. Null for any cluster, and for any name.
CREATE OR REPLACE FUNCTION newest_rules(of_cluster text, named text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    found boolean;
    name text;
BEGIN
    FOR name IN
        SELECT nspname FROM pg_namespace INNER JOIN pg_tables ON schemaname = nspname
        WHERE
            starts_with(nspname, coalesce(named, 'rules_')) AND starts_with(nspname, 'rules_')
            AND tablename = 'snapshot' AND has_schema_privilege(pg_namespace.oid, 'USAGE')
        ORDER BY nspname = named DESC, pg_namespace.oid DESC
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %I.snapshot WHERE cluster = $1 OR $1 IS NULL)', name)
            INTO found USING of_cluster;
        IF found THEN RETURN name; END IF;
    END LOOP;
    RETURN NULL;
END $$;

-- Differences between such a schema and this one, by group and snapshot: the diagnosis, and the winning strategy in snapshots
-- in which the schema has advice and both were evaluated.
CREATE OR REPLACE FUNCTION said_otherwise(
    rules text, of_cluster text, of_group text, since timestamptz, until timestamptz
) RETURNS TABLE (
    cluster text, group_id text, taken_at timestamptz, covered_seconds double precision, config_version text,
    diagnosis_then text, diagnosis text, other_wins boolean, winner_then text, winner text
) LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF rules IS NULL THEN RETURN; END IF;
    RETURN QUERY EXECUTE format('
        SELECT
            made.cluster,
            made.group_id,
            made.taken_at,
            least(extract(epoch FROM made.taken_at - (
                SELECT max(earlier.started_at) FROM snapshot AS earlier
                WHERE earlier.cluster = made.cluster AND earlier.started_at < made.taken_at
            )), 3600)::double precision,
            own.config_version,
            CASE WHEN told.cluster IS NOT NULL THEN coalesce(told.diagnosis, ''unknown'') END,
            coalesce(made.diagnosis, ''unknown''),
            now_told.strategy IS DISTINCT FROM then_told.strategy
            AND now_told.verdict <> ''not evaluated'' AND then_told.verdict <> ''not evaluated'',
            then_told.strategy,
            now_told.strategy
        FROM %1$I.lag_history AS made
        INNER JOIN %1$I.snapshot AS own ON own.cluster = made.cluster AND own.started_at = made.taken_at
        LEFT JOIN lag_history AS told
            ON told.cluster = made.cluster AND told.group_id = made.group_id AND told.taken_at = made.taken_at
        LEFT JOIN LATERAL (
            SELECT advice.verdict, advice.strategy FROM %1$I.advice_history AS advice
            WHERE
                own.advised_at IS NOT NULL
                AND advice.cluster = made.cluster AND advice.group_id = made.group_id AND advice.taken_at <= made.taken_at
            ORDER BY advice.taken_at DESC LIMIT 1
        ) AS now_told ON TRUE
        LEFT JOIN LATERAL (
            SELECT advice.verdict, advice.strategy FROM advice_history AS advice
            WHERE
                now_told.verdict IS NOT NULL
                AND advice.cluster = made.cluster AND advice.group_id = made.group_id AND advice.taken_at <= made.taken_at
            ORDER BY advice.taken_at DESC LIMIT 1
        ) AS then_told ON TRUE
        WHERE
            ($1 IS NULL OR made.cluster = $1)
            AND ($2 IS NULL OR made.group_id = $2)
            AND ($3 IS NULL OR made.taken_at >= $3)
            AND ($4 IS NULL OR made.taken_at < $4)
            AND (
                told.cluster IS NOT NULL
                AND coalesce(made.diagnosis, ''unknown'') <> coalesce(told.diagnosis, ''unknown'')
                OR now_told.strategy IS DISTINCT FROM then_told.strategy
                AND now_told.verdict <> ''not evaluated'' AND then_told.verdict <> ''not evaluated''
            )', rules)
        USING of_cluster, of_group, since, until;
END $$;
