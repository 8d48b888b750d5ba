-- The history's own role and database, apart from Airflow's. Run it once as an administrator of the server:
--
--     psql -v role=evenkeel -v database=evenkeel -f sql/database.sql
--     psql -c '\password evenkeel'
--
-- Then point EVENKEEL_DATABASE_URL at it and run `evenkeel admin migrate`. Nobody else may connect, so neither Airflow nor
-- the history can read or break the other. For people and programs that only ask there is the role evenkeel_reader, one for
-- all databases of a server: `evenkeel admin migrate` lets it read views and what named queries ask. Grant it to their logins.

CREATE ROLE :"role" LOGIN;
CREATE DATABASE :"database" OWNER :"role";
REVOKE ALL ON DATABASE :"database" FROM public;
SELECT 'CREATE ROLE evenkeel_reader NOLOGIN'
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'evenkeel_reader') \gexec
