"""
Kafka's two sticky assignors of tasks (`java/StickyTaskOracle.java`), asked the same as ours.

`python -m tests.oracle.sticky_tasks` puts random applications before both and compares what every client, or every
member, gets. Exit status 1 when anything differs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, ClassVar

from evenkeel.engine.cli.cases import answer
from tests.oracle.jvm import Jvm
from tests.oracle.sticky_task_cases import Case, client_case, server_case
from tests.stage.process import LocalClusterError

CASES: Mapping[str, Callable[[Random], Case]] = {
    "sticky-tasks": client_case,
    "sticky-tasks-server": server_case,
}


class StickyTaskJvm(Jvm):
    """Both of Kafka's classes, asked one case at a time; to be used in a `with` statement."""

    main: ClassVar[str] = "StickyTaskOracle"


def differs(case: Case, theirs: Mapping[str, Any]) -> str | None:
    """How our answer to a case differs from Kafka's; None when it is the same."""
    if "error" in theirs:
        return f"Kafka: {theirs['error']}"
    if "standby_order" in theirs:
        case = case | {"standby_order": theirs["standby_order"]}
    mine = answer(case)
    for part in ("members", "active", "standby"):
        if part in theirs and theirs[part] is not None:
            ours, kafkas = _sorted(mine[part]), _sorted(theirs[part])
            if ours != kafkas:
                odd = sorted(name for name in kafkas if kafkas[name] != ours.get(name))
                return f"{part} of {odd[0]}: {ours.get(odd[0])} instead of {kafkas[odd[0]]}"
    return None


def compare(jvm: StickyTaskJvm, strategy: str, cases: int, seed: int) -> list[str]:
    """Ask both sides; what differs, in words."""
    random = Random(f"{strategy} {seed}")
    found = []
    for _ in range(cases):
        case = CASES[strategy](random)
        difference = differs(case, jvm.ask(case))
        if difference:
            found.append(f"{case['id']}: {difference}")
    return found


def _sorted(given: Any) -> Any:
    """The same with every list of tasks in order."""
    if isinstance(given, dict):
        return {name: _sorted(part) for name, part in given.items()}
    return sorted(given)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.sticky_tasks")
    parser.add_argument("--strategy", action="append", choices=[*CASES], help="only these")
    parser.add_argument("--cases", type=int, default=500, help="per strategy (default 500)")
    parser.add_argument("--seed", type=int, default=1, help="other seeds, other cases (default 1)")
    parser.add_argument(
        "--ask", action="store_true", help="only answer the cases on standard input, as Kafka does"
    )
    options = parser.parse_args(arguments)
    try:
        with StickyTaskJvm() as jvm:
            if options.ask:
                for line in sys.stdin:
                    print(json.dumps(jvm.ask(json.loads(line))), flush=True)
                return 0
            different = 0
            for strategy in options.strategy or CASES:
                found = compare(jvm, strategy, options.cases, options.seed)
                different += len(found)
                same = options.cases - len(found)
                print(f"{strategy}: same {same} of {options.cases}", *found[:5], sep="\n  ")
            return int(bool(different))
    except LocalClusterError as problem:
        print(problem, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
