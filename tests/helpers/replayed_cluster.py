"""
A cluster whose readings are those of a stored lake, one after another, under their own ids and times.

``python -m tests.helpers.replayed_cluster COUNT`` runs the DAG `snapshot_offsets` so many times, each on the next
reading, in the environment that it finds (`AIRFLOW_HOME` and the rest).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.replay import ReplayCluster
from evenkeel.engine.config import Settings
from evenkeel.engine.datasets import ClusterSnapshot
from evenkeel.engine.ports.lake import ALL

SOURCE = "EVENKEEL_TEST_LAKE"
"""The environment variable that names the folder of the stored lake."""

IN_THE_DAGS = """
from evenkeel.engine import wiring
from tests.helpers.replayed_cluster import connect
wiring.cluster = connect

"""
"""What comes before the code of the DAGs, so that their tasks read it in place of brokers."""


class NextReading:
    """The port `Cluster`: the oldest reading that is not in the lake of the pipeline yet."""

    def __init__(self, source: FileLake, ids: list[str]) -> None:
        self.source, self.ids = source, ids

    def take_snapshot(self, snapshot_id: str) -> ClusterSnapshot:
        """The next one; the id that is asked for is not used."""
        return ReplayCluster(self.source, self.ids).take_snapshot(self.ids[0])

    def close(self) -> None:
        """Nothing is open."""


def connect(settings: Settings, name: str) -> NextReading:
    """In place of `wiring.cluster`."""
    source, taken = FileLake(Path(os.environ[SOURCE])), FileLake(Path(str(settings.lake)))
    ids = source.snapshots(name, limit=ALL)[::-1]
    return NextReading(source, ids[len(taken.snapshots(name, limit=ALL)) :])


def main(count: int) -> None:
    """Make Airflow's database, then run the DAG so many times, all in one process: importing takes seconds."""
    from airflow.cli.cli_parser import get_parser

    parser = get_parser()
    for words in (["db", "migrate"], *([["dags", "test", "snapshot_offsets"]] * count)):
        wanted = parser.parse_args(words)
        wanted.func(wanted)


if __name__ == "__main__":
    main(int(sys.argv[1]))
