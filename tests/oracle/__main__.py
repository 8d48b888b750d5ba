"""
`python -m tests.oracle`: random groups and applications put before Kafka's classes and before ours.

Prints per strategy how many answers are the same. Of the first few groups of which they are not, the smallest that
shows it is written to `.evenkeel/oracle`, with both answers. Exit status 1 when anything differs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from functools import partial

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from evenkeel.engine.assignors import ASSIGNORS
from tests.oracle import tasks
from tests.oracle.compare import FEATURES, Compared, compare
from tests.oracle.jvm import STRATEGIES, Jvm
from tests.stage.kafka.jars import JAR_LISTS, KAFKA_VERSION
from tests.stage.process import LocalClusterError

SHOWN = 3
"""Differences per strategy that are made small and written."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, print, and write what differs; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    every = (*STRATEGIES, *tasks.STRATEGIES, *tasks.STICKY)
    parser.add_argument("--strategy", action="append", choices=every, help="only these")
    parser.add_argument(
        "--groups", type=int, default=2_000, help="or applications, per strategy (default 2000)"
    )
    parser.add_argument("--seed", type=int, default=1, help="other seeds, other groups (default 1)")
    parser.add_argument(
        "--ask", action="store_true", help="only answer the cases on standard input, as Kafka does"
    )
    parser.add_argument(
        "--kafka", choices=[*JAR_LISTS], default=KAFKA_VERSION, help="the release that is asked"
    )
    options = parser.parse_args(arguments)
    asked = options.strategy or every
    of_tasks = [strategy for strategy in asked if strategy not in STRATEGIES]
    try:
        if options.ask:
            of = tasks.jvm_of(of_tasks[0]) if options.strategy and of_tasks else Jvm
            with of(kafka=options.kafka) as jvm:
                return _ask(jvm)
        with Jvm(kafka=options.kafka) as jvm:
            of_groups = [strategy for strategy in asked if strategy in STRATEGIES]
            differs = _run(jvm, of_groups, options.groups, options.seed)
        return int(any([differs, _run_tasks(of_tasks, options)]))
    except LocalClusterError as problem:
        print(problem, file=sys.stderr)
        return 2


def _ask(jvm: Jvm) -> int:
    for line in sys.stdin:
        print(json.dumps(jvm.ask(json.loads(line))), flush=True)
    return 0


def _run_tasks(strategies: Sequence[str], options: argparse.Namespace) -> int:
    different, cases = 0, options.groups
    for strategy in strategies:
        with tasks.jvm_of(strategy)(kafka=options.kafka) as jvm:
            found = tasks.compare(jvm, strategy, cases, options.seed)
        different += len(found)
        print(f"{strategy}: {len(found)} differences in {cases:,} cases", *found[:5], sep="\n  ")
    return int(bool(different))


def _run(jvm: Jvm, strategies: Sequence[str], groups: int, seed: int) -> int:
    console = Console()
    done: dict[str, Compared] = {}
    columns = (TextColumn("{task.description:18}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        for strategy in strategies:
            if strategy not in ASSIGNORS:
                console.print(f"{strategy}: evenkeel has no such strategy yet")
                continue
            task = progress.add_task(strategy, total=groups)
            done[strategy] = compare(
                jvm, strategy, groups, seed, shown=SHOWN, tick=partial(progress.advance, task)
            )
            progress.remove_task(task)
            _tell(console, strategy, done[strategy], groups)
    if done:
        console.print(_table(done))
    return int(any(compared.different for compared in done.values()))


def _tell(console: Console, strategy: str, compared: Compared, groups: int) -> None:
    style = "red" if compared.different else "green"
    console.print(f"[{style}]{strategy}: same {compared.same:,} of {groups:,}[/]", highlight=False)
    for shown in compared.shown:
        console.print(f"  {shown}", markup=False, highlight=False, soft_wrap=True)


def _table(done: dict[str, Compared]) -> Table:
    """How many of the groups were of which kind: agreement is worth what it was tried on."""
    table = Table("groups with", title="What was asked", title_justify="left")
    for strategy in done:
        table.add_column(strategy, justify="right")
    for feature in FEATURES:
        table.add_row(feature, *(f"{c.features[feature]:,}" for c in done.values()))
    return table


if __name__ == "__main__":
    sys.exit(main())
