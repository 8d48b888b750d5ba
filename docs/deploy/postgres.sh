#!/bin/sh
# Postgres runs this once, in an empty volume: the role and the database of evenkeel beside Airflow's (compose.yaml).
# Untried in that image; an embedded Postgres accepts it.
set -eu

psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -v role=evenkeel -v database=evenkeel -f /database.sql
psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -v password="$EVENKEEL_PASSWORD" <<'SQL'
ALTER ROLE evenkeel PASSWORD :'password';
SQL
