"""
The history in Postgres: SQLAlchemy Core over psycopg 3.

Queries, and writes with logic of their own, are files of `sql`; plain inserts, updates and deletes are Core over the
tables that follow from the records (`records.tables`); many rows go through COPY.
"""

from evenkeel.engine.adapters.postgres.history import PostgresHistory
from evenkeel.engine.adapters.postgres.migrating import migrate, pending
from evenkeel.engine.adapters.postgres.reports import PostgresReports
from evenkeel.engine.adapters.postgres.shelf import PostgresShelf

__all__ = ["PostgresHistory", "PostgresReports", "PostgresShelf", "migrate", "pending"]
