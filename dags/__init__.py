"""
Airflow DAGs, one per file.

They share `defaults`, `runtime`, `outages`, `connections` and `spark_step`. `pages` serves the report inside Airflow,
with `navigation` (addresses), `page_data` (contents) and `page_cache`. `pool_priority` has the plugin.

To use the DAGs of an installed wheel, add this file to your DAG folder:

    # The DAGs of evenkeel, as installed; Airflow reads files that contain the words airflow and dag.
    from evenkeel.dags import all_dags
    globals().update(all_dags())

All modules are imported below the name `evenkeel`, so they don't conflict with a `dags`, `sql` or `engine` package of
your own.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

ADVISING = "advise_assignments"
"""The DAG that computes the advice of a snapshot."""

NAMES = ("snapshot_offsets", ADVISING, "watch_pipeline", "maintain_history", "backfill_history")
"""The DAGs in the order of the data flow; each has a module of the same name."""


def all_dags() -> dict[str, Any]:
    """All DAGs by id, for the globals of a file in the DAG folder of Airflow."""
    return {name: import_module(f"{__name__}.{name}").DAG for name in NAMES}
