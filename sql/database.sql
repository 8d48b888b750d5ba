-- The history's own role and database, apart from Airflow's. Run it once as an administrator of the server:
--
--     psql -v role=evenkeel -v database=evenkeel -f sql/database.sql
--     psql -c '\password evenkeel'
--
-- Then point EVENKEEL_DATABASE_URL at it and run `evenkeel migrate`. Nobody else may connect, so neither Airflow nor
-- the history can read or break the other. For people who only ask, make another role and grant it
-- connect on the database, usage on schema public, and select on its tables and views.

CREATE ROLE :"role" LOGIN;
CREATE DATABASE :"database" OWNER :"role";
REVOKE ALL ON DATABASE :"database" FROM public;
