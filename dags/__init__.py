"""
Thin Airflow DAGs, one per file; `defaults`, `runtime`, `outages`, `connections` and `spark_step` are what they
share. `pages` serves the report inside Airflow: `navigation` says where, `page_data` what is shown, `page_cache` how
often it is made. `pool_priority` has the plugin.

Airflow is shown them by a file of three lines in a DAG folder of your own, beside an installed wheel:

    # The DAGs of evenkeel, as installed; Airflow reads files that speak of airflow and a dag.
    from evenkeel.dags import all_dags
    globals().update(all_dags())

Everything is imported by the one name `evenkeel`, so a `dags` package, a `sql` folder or an `engine` module of
your own on the import path is never in the way.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

ADVISING = "advise_assignments"
"""The DAG that makes the advice of a snapshot."""

NAMES = ("snapshot_offsets", ADVISING, "watch_pipeline", "maintain_history", "backfill_history")
"""The DAGs, in the order in which data flows through them; each is the module of that name."""


def all_dags() -> dict[str, Any]:
    """Every DAG by its id, for the globals of a file in Airflow's DAG folder."""
    return {name: import_module(f"{__name__}.{name}").DAG for name in NAMES}
