"""
The history in Postgres: SQLAlchemy Core over psycopg 3.

Queries, and writes with logic of their own, are files of `sql`; plain inserts, updates and deletes are Core over the
tables that follow from the records (`records.tables`); many rows go through COPY.
"""

from .history import PostgresHistory, PostgresShelf
from .installation import check, release
from .migration import migrate, pending
from .reports import PostgresReports

__all__ = [
    "PostgresHistory",
    "PostgresReports",
    "PostgresShelf",
    "check",
    "migrate",
    "pending",
    "release",
]
