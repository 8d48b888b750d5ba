"""
`python -m tests.benchmarks`: every measured strategy on every case.

Times are medians of warm calls on a group that has worked nothing out before, memory the peak of
one call more. They hold for this machine and this hour; compare within one run only.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, JustifyMethod
from rich.table import Table

from engine.assignor import build_spec
from engine.assignors import by_name
from tests.benchmarks.cases import CASES, Case, build, names
from tests.benchmarks.measure import Measured, measure
from tests.benchmarks.peers import PEERS, Peer

STRATEGIES = ("range", "roundrobin")
"""What is measured beside building the input."""

HEADINGS = (
    *("members", "partitions", "topics", "racks", "what"),
    *("ms", "M/s", "MiB"),
)
"""The columns before the peers'; millions of partitions per second, and peak memory."""


def rows(
    cases: Sequence[Case], strategies: Sequence[str], peers: Sequence[Peer], repeat: int
) -> Iterator[list[str]]:
    """One row of text per case and call: building the input, then each strategy."""
    for case in cases:
        arguments = names(case)
        measured = measure(lambda given: build_spec(**given), lambda given=arguments: given, repeat)
        yield _row(case, "build", measured, [None for _ in peers])
        group = build(case)
        for strategy in strategies:
            call: Callable[[Any], object] = by_name(strategy).assign
            measured = measure(call, lambda group=group: replace(group), repeat)
            others = [peer.milliseconds(case, strategy, repeat) for peer in peers]
            yield _row(case, strategy, measured, others)


def _row(case: Case, what: str, measured: Measured, others: Sequence[float | None]) -> list[str]:
    per_second = case.partitions / measured.milliseconds * 1000
    return [
        *(f"{n:,}" for n in (case.members, case.partitions, case.topics, case.racks)),
        what,
        f"{measured.milliseconds:,.1f}",
        f"{per_second / 1e6:,.1f}",
        f"{measured.peak_mib:,.0f}",
        *("-" if other is None else f"{other:,.1f}" for other in others),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, row by row as it is measured."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--repeat", type=int, default=5, help="timed calls per row (default 5)")
    parser.add_argument(
        "--at-most", type=int, default=None, metavar="PARTITIONS", help="leave larger cases out"
    )
    options = parser.parse_args(arguments)
    cases = [c for c in CASES if options.at_most is None or c.partitions <= options.at_most]
    table = Table(title="Medians of warm calls on this machine", box=SIMPLE_HEAD)
    for heading in HEADINGS:
        justify: JustifyMethod = "left" if heading == "what" else "right"
        table.add_column(heading, justify=justify, no_wrap=True)
    for peer in PEERS:
        table.add_column(f"{peer.name} ms", justify="right", no_wrap=True)
    console = Console()
    with console.status("measuring"):
        for row in rows(cases, STRATEGIES, PEERS, options.repeat):
            table.add_row(*row)
    console.print(table)


if __name__ == "__main__":
    main()
