"""
`make kafka`: three brokers and the workload of recognizable groups in the foreground, without anything else.

Prints the address, a line per group as it settles, and what to try; Ctrl-C or SIGTERM stops it all.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.stage.kafka.brokers import KafkaCluster
from tests.stage.process import LocalClusterError, default_home
from tests.stage.workload import run as workload


def main(arguments: list[str]) -> int:
    """Run until asked to stop; the groups and their offsets are there again the next time."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.stage kafka", description=(__doc__ or "").strip()
    )
    folder = default_home() / "kafka" / "standalone"
    parser.add_argument(
        "directory",
        nargs="?",
        type=Path,
        default=folder,
        help="folder for topics, groups and offsets",
    )
    directory = parser.parse_args(arguments).directory.absolute()
    try:
        with KafkaCluster(directory / "brokers") as cluster:
            address = cluster.bootstrap.split(",")[0]
            print(f"brokers      {cluster.bootstrap}", flush=True)
            print(f"try          .venv/bin/evenkeel lag --bootstrap {address}", flush=True)
            return workload.main(
                ["--bootstrap", cluster.bootstrap, "--directory", str(directory / "workload")]
            )
    except LocalClusterError as problem:
        print(problem, file=sys.stderr)
        return 1
