"""``python -m tests.stage VERB``: start, inspect or stop the demo, or run a part of it."""

from __future__ import annotations

import argparse
import importlib
import sys

from tests.stage.process import LocalClusterError

INTERRUPTED = 130

VERBS = {
    "start": ("demo:start_main", "start all services, wait for advice and print it"),
    "status": ("demo:status_main", "print the services, their addresses and their logs"),
    "stop": ("demo:stop_main", "stop all services"),
    "restart": (
        "workload.run:restart_main",
        "restart a member of a demo group to cause a rebalance",
    ),
    "behind": ("behind:main", "load the CPUs and measure the time to advice"),
    "chaos": (
        "chaos.run:main",
        "pause and kill services, then check all guarantees",
    ),
    "kafka": ("standalone:main", "run the brokers and the groups in the foreground"),
    "brokers": ("kafka.brokers:main", "run only the brokers in the foreground"),
    "workload": ("workload.run:main", "run the demo groups on a cluster, or remove them"),
    "slack": ("slack:main", "run only the Slack stand-in in the foreground"),
}
"""Entry point, imported when called, and purpose of each verb."""


def main(arguments: list[str] | None = None) -> int:
    """Run a verb."""
    verbs = [f"  {verb:<9} {purpose}" for verb, (_, purpose) in VERBS.items()]
    parser = argparse.ArgumentParser(
        prog="python -m tests.stage",
        description="Runs the demo on this machine.",
        epilog="\n".join(["verbs (each has its own --help):", *verbs]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("verb", choices=VERBS, metavar="VERB", help="see below")
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="...", help="arguments of the verb"
    )
    given = parser.parse_args(arguments)
    module, function = VERBS[given.verb][0].split(":")
    try:
        run = getattr(importlib.import_module(f"tests.stage.{module}"), function)
        return int(run(given.arguments))
    except LocalClusterError as problem:
        print(f"\n{problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted. Continue with `make demo`, or stop the demo with `make stop`.")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
