"""
Forget what an earlier demo kept of the cluster that it ran itself.

Its groups stop and start with it: their history would show the stop as incidents, and groups that are no longer there.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import psycopg
from psycopg import sql

OF_CLUSTERS = """
select table_name from information_schema.columns join information_schema.tables using (table_schema, table_name)
where table_schema = current_schema() and column_name = 'cluster' and table_type = 'BASE TABLE'
"""


def forget_snapshots(lake: Path, cluster: str) -> None:
    """Remove the folders of a cluster from a lake; there may be none."""
    for folder in [*lake.glob(f"*/cluster={cluster}"), *lake.glob(f"_*/*/cluster={cluster}")]:
        shutil.rmtree(folder)


def forget_history(database_url: str, cluster: str) -> None:
    """Delete the rows of a cluster, and those of all clusters, from a history database; other clusters keep theirs."""
    with psycopg.connect(database_url) as connection:
        # the ledger is taken from its owner, who may take it back
        connection.execute("grant delete on ledger to current_user")
        for (table,) in connection.execute(OF_CLUSTERS).fetchall():
            delete = "delete from {} where cluster in (%s, '*') or cluster is null"
            connection.execute(sql.SQL(delete).format(sql.Identifier(table)), [cluster])
        connection.execute("revoke delete on ledger from current_user")
