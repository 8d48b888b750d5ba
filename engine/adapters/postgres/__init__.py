"""
The history in Postgres: SQLAlchemy Core over psycopg 3. What is said to the server stands in the files of `sql`.
"""

from evenkeel.engine.adapters.postgres.history import PostgresHistory
from evenkeel.engine.adapters.postgres.migrating import migrate, pending
from evenkeel.engine.adapters.postgres.reports import PostgresReports

__all__ = ["PostgresHistory", "PostgresReports", "migrate", "pending"]
