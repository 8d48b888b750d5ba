"""
`make kafka`: three brokers and the workload of recognisable groups in the foreground, without anything else.

Prints the address, a line per group as it settles, and what to try; Ctrl-C or SIGTERM stops it all.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.helpers.local import workload
from tests.helpers.local.brokers import KafkaCluster
from tests.helpers.local.process import LocalClusterError


def main() -> int:
    """Run until asked to stop; the groups and their offsets are there again the next time."""
    directory = Path(sys.argv[1]).absolute()
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


if __name__ == "__main__":
    sys.exit(main())
