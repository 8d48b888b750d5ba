-- Creates the role and the database of evenkeel, separate from those of Airflow. Run it once as an administrator of the server:
--
--     psql -v role=evenkeel -v database=evenkeel -f sql/database.sql
--     psql -c '\password evenkeel'
--
-- Then set EVENKEEL_DATABASE_URL to it and run `evenkeel admin migrate`. No other role may connect, so Airflow and evenkeel
-- cannot read or change each other's data. Grant the role evenkeel_reader to the logins of people and dashboards: it may read
-- the views and the tables of named queries. The role exists once per server, for all of its databases.

CREATE ROLE :"role" LOGIN;
CREATE DATABASE :"database" OWNER :"role";
REVOKE ALL ON DATABASE :"database" FROM public;
SELECT 'CREATE ROLE evenkeel_reader NOLOGIN'
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'evenkeel_reader') \gexec
