"""``python -m tests.stage VERB``: start the demo, see it, stop it, or run one part of it alone."""

from __future__ import annotations

import argparse
import importlib
import sys

from tests.stage.process import LocalClusterError

INTERRUPTED = 130

VERBS = {
    "start": ("demo:start_main", "start everything, wait for advice and print what it says"),
    "status": ("demo:status_main", "print what runs, where it is and where its logs are"),
    "stop": ("demo:stop_main", "end everything that start started"),
    "restart": (
        "workload.run:restart_main",
        "restart a member of one of the demo's groups, which rebalances by it",
    ),
    "behind": ("behind:main", "burn processors and watch how far advice is behind the snapshots"),
    "chaos": (
        "chaos.run:main",
        "hang and kill everything for a while, and see whether all promises hold",
    ),
    "kafka": ("standalone:main", "run the brokers and the groups in the foreground"),
    "brokers": ("kafka.brokers:main", "run the brokers alone, in the foreground"),
    "workload": ("workload.run:main", "run the groups on a cluster, or remove them"),
    "slack": ("slack:main", "run the stand-in for Slack alone, in the foreground"),
}
"""Where each is, loaded when it is called: some import slowly; and what it does."""


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for."""
    verbs = [f"  {verb:<9} {purpose}" for verb, (_, purpose) in VERBS.items()]
    parser = argparse.ArgumentParser(
        prog="python -m tests.stage",
        description="The demo's stage, on this machine.",
        epilog="\n".join(["verbs, each with a --help of its own:", *verbs]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("verb", choices=VERBS, metavar="VERB", help="see below")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="of the verb")
    given = parser.parse_args(arguments)
    module, function = VERBS[given.verb][0].split(":")
    try:
        run = getattr(importlib.import_module(f"tests.stage.{module}"), function)
        return int(run(given.arguments))
    except LocalClusterError as problem:
        print(f"\n{problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted. `make demo` goes on from here, `make stop` ends it all.")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
