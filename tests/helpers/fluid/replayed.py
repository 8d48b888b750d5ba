"""
`python -m tests.helpers.fluid.replayed [SITUATION ...] [--seed N] [--out FILE]`: how true are counterfactuals?

All situations are listened to; where a switch is told, the group takes it up three snapshots later, and is listened to
again. What is replayed for the assignment that it left is held against a simulation in which it stays. What is said to
be missed by not switching is held against one in which it switches at the beginning of that hour.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from evenkeel.engine.adapters.memory import MemoryHistory
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.config import Settings
from evenkeel.engine.pipeline.pipeline import walk
from evenkeel.engine.records import AdviceCheck, AdviceRow, Regret
from tests.helpers.fluid.fork import Outcome, outcome
from tests.helpers.fluid.plan import EVERY, Group, Switch, at
from tests.helpers.fluid.run import History, simulate
from tests.helpers.fluid.score import Heard, _choice
from tests.helpers.fluid.situations import SITUATIONS
from tests.helpers.fluid.tables import CLUSTER, snapshots
from tests.helpers.fluid.truth import SNAPSHOTS, snapshot_at
from tests.helpers.fluid.ways import Choice
from tests.helpers.lake_snapshots import write_taken

LATER = 3
"""Snapshots from when a switch is told to when the group does it."""


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A replayed value, its ends, what came, and what a simulation says."""

    group: str
    measure: str
    snapshot: int
    low: float
    expected: float
    high: float
    came: float
    true: float
    state: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate, listen, switch, listen again, compare, print."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.helpers.fluid.replayed", description=__doc__
    )
    parser.add_argument("situation", nargs="*", metavar="SITUATION", choices=[*SITUATIONS, []])
    parser.add_argument("--seed", type=int, default=7, help="of what arrives (7)")
    parser.add_argument("--out", metavar="FILE", type=Path, help="all that is compared, as JSON")
    options = parser.parse_args(arguments)
    found = [*compared(options.situation or list(SITUATIONS), options.seed)]
    if options.out:
        listed = [each.__dict__ for each in found]
        options.out.write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write("".join(f"{line}\n" for line in lines(found)))
    return 0


def compared(names: Sequence[str], seed: int) -> Iterator[Compared]:
    """All that is replayed of some situations, and of the switches that they are told."""
    heard = Heard.of(simulate([SITUATIONS[name].group for name in names], SNAPSHOTS, seed))
    taken = [*_taken_up(heard)]
    for group in (*heard.history.groups, *(choice.takes() for choice in taken)):
        yield from of_group(group, seed)


def of_group(group: Group, seed: int) -> Iterator[Compared]:
    """What is replayed of a group, beside simulations."""
    history = simulate([group], SNAPSHOTS, seed)
    for row in rows(history):
        for check in row.checks:
            if check.if_stayed is not None:
                yield from _of_check(group, check, row, seed)
        for regret in row.regrets:
            yield _of_regret(group, history, regret, seed)


def rows(history: History) -> list[AdviceRow]:
    """All advice of a history, oldest first."""
    lake, memory = Recording(), MemoryHistory()
    write_taken(lake, snapshots(history))
    found: list[AdviceRow] = []
    for ran in walk(lake, memory, Settings(), CLUSTER):
        found += memory.tables.advice.get(ran.snapshot_id, {}).values()
    return found


def _taken_up(heard: Heard) -> Iterator[Choice]:
    """The switches that are told, each a while later, of groups that plan none themselves."""
    for message in heard.switches:
        choice = _choice(heard.history, message)
        if choice.stays == choice.group and choice.owners is None:
            yield replace(choice, snapshot=min(choice.snapshot + LATER, SNAPSHOTS - 1))


def _of_check(
    group: Group, check: AdviceCheck, row: AdviceRow, seed: int
) -> Iterator[Compared]:
    """A check of a switch that a group plans, beside the same group without it."""
    switch = next(e for e in group.events if isinstance(e, Switch))
    stays = replace(group, events=tuple(e for e in group.events if e is not switch))
    first, now = int(switch.at // EVERY), snapshot_at(row.snapshot_id)
    history = simulate([stays], SNAPSHOTS, seed)
    would, came = outcome(history, first), outcome(simulate([group], SNAPSHOTS, seed), first)
    values = {
        "lag": float(history.lag(group.name)[now]),
        "delay_seconds": float(would.late[round((now - first) * EVERY / 5)]),
    }
    known = {"group": group.name, "snapshot": now}
    assert check.if_stayed_low is not None
    assert check.if_stayed_high is not None
    assert check.if_stayed is not None
    yield Compared(
        **known,
        measure=f"{check.measure} after {check.after_seconds} s",
        low=check.if_stayed_low,
        expected=check.if_stayed,
        high=check.if_stayed_high,
        came=check.actual or 0.0,
        true=values[check.measure],
        state=row.state or "",
    )
    if check.saved is not None:
        seconds = (now - first) * EVERY
        yield Compared(
            **known,
            measure=f"saved after {check.after_seconds} s",
            low=check.saved_low or 0.0,
            expected=check.saved,
            high=check.saved_high or 0.0,
            came=came.integral(seconds),
            true=would.integral(seconds) - came.integral(seconds),
            state=row.state or "",
        )


def _of_regret(group: Group, history: History, regret: Regret, seed: int) -> Compared:
    first = snapshot_at(regret.since.isoformat())
    last = snapshot_at(regret.until.isoformat())
    bounces = 1 if group.modern or regret.strategy in group.lists else 2
    choice = Choice(group=group, snapshot=first, to=regret.strategy, bounces=bounces)
    stays, takes = (
        outcome(simulate([one], last + 1, seed), first) for one in (choice.stays, choice.takes())
    )
    seconds = (last - first) * EVERY
    return Compared(
        group=group.name,
        measure="regret",
        snapshot=last,
        low=regret.saved_low,
        expected=regret.saved,
        high=regret.saved_high,
        came=regret.came,
        true=stays.integral(seconds) - takes.integral(seconds),
        state=str(regret.state or ""),
    )


def lines(found: Sequence[Compared]) -> Iterator[str]:
    """Quantiles of errors by measure."""
    for measure in sorted({each.measure for each in found}):
        own = [each for each in found if each.measure == measure]
        error = np.array([each.expected - each.true for each in own])
        of = np.array([max(abs(each.true), abs(each.came), 1.0) for each in own])
        held = np.mean([each.low <= each.true <= each.high for each in own])
        low, middle, high = np.quantile(error / of, (0.1, 0.5, 0.9))
        yield (
            f"{measure:32} {len(own):5}  held {held:.2f}  error over the larger of both "
            f"p10 {low:+.3f} p50 {middle:+.3f} p90 {high:+.3f}"
        )


if __name__ == "__main__":
    sys.exit(main())
