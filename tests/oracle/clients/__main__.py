"""
`python -m tests.oracle.clients`: random groups put before other clients' assignors, and before ours.

Prints per client and strategy how many answers are the same and how the others differ, with the smallest group of each
kind in `.evenkeel/oracle/clients`. franz-go needs Go.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from tests.oracle.clients import kafka_python
from tests.oracle.clients.compare import SAME, Found, cases, compare
from tests.oracle.clients.coordinator import Leader, franz_go, librdkafka
from tests.oracle.groups import Case
from tests.stage.process import checkout_home

STRATEGIES = ("range", "roundrobin", "sticky", "cooperative-sticky")
CLIENTS = ("kafka-python", "librdkafka", "franz-go")


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare and print; returns the exit status, 0: this measures and judges nothing."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.clients", description=__doc__)
    parser.add_argument("--client", action="append", choices=CLIENTS, help="only these")
    parser.add_argument("--strategy", action="append", choices=STRATEGIES, help="only these")
    parser.add_argument("--groups", type=int, default=2_000, help="per strategy (default 2000)")
    parser.add_argument("--seed", type=int, default=1, help="other seeds, other groups (default 1)")
    options = parser.parse_args(arguments)
    folder = checkout_home() / "oracle" / "clients"
    folder.mkdir(parents=True, exist_ok=True)
    for strategy in options.strategy or STRATEGIES:
        asked = cases(strategy, options.groups, options.seed)
        for client in options.client or CLIENTS:
            if (client, strategy) == ("librdkafka", "sticky"):
                continue  # it has none
            found = _found(client, strategy, asked)
            print(f"{client} {strategy}: same {found.kinds[SAME]:,} of {options.groups:,}")
            for place, (kind, count) in enumerate(found.kinds.most_common()):
                file = folder / f"{client}-{strategy}-{place}.json"
                file.write_text(json.dumps(found.first[kind], indent=1))
                if kind != SAME:
                    print(f"  {count:5,}  {kind}  ({file})")
            sys.stdout.flush()
    return 0


def _found(client: str, strategy: str, asked: list[Case]) -> Found:
    if client == "kafka-python":
        return compare(kafka_python.ask, asked)
    with Leader(librdkafka() if client == "librdkafka" else franz_go(), strategy) as leader:
        return compare(leader.ask, asked)


if __name__ == "__main__":
    sys.exit(main())
