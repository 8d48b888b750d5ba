"""
`python -m tests.helpers.fluid.replayed [SITUATION ...] [--seed N] [--out FILE]`: how true are counterfactuals?

Situations are listened to, and where a switch is told, the group takes it up three snapshots later and is listened to
again. What is replayed of the assignment that it left is held against a simulation in which it stays. What a strategy
is said to have saved, had somebody switched to it, is held against one in which somebody does.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from evenkeel.engine.records import AdviceCheck, Regret
from tests.helpers.fluid.fork import Outcome, outcome
from tests.helpers.fluid.plan import EVERY, STEP, Follow, Group, Switch, at
from tests.helpers.fluid.run import simulate
from tests.helpers.fluid.score import Heard, choice_of
from tests.helpers.fluid.situations import SITUATIONS
from tests.helpers.fluid.truth import SNAPSHOTS, snapshot_at
from tests.helpers.fluid.ways import CLASSIC, HOUR, MODERN, Choice, walked

LATER = 3
"""Snapshots from when a switch is told to when the group does it."""


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A replayed value, what came, and what a simulation says; *expected* is None where it is not known."""

    group: str
    snapshot: int
    state: str
    measure: str
    low: float
    expected: float | None
    high: float
    came: float
    true: float


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
        listed = [asdict(each) for each in found]
        options.out.write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write("".join(f"{line}\n" for line in lines(found)))
    return 0


def compared(names: Sequence[str], seed: int) -> Iterator[Compared]:
    """All that is replayed of some situations, and of the switches that they are told."""
    heard = Heard.of(simulate([SITUATIONS[name].group for name in names], SNAPSHOTS, seed))
    yield from _of_regrets(heard, seed)
    yield from _of_checks(heard, seed)
    taken = taken_up(heard)
    if taken:
        again = Heard.of(simulate([*taken.values()], SNAPSHOTS, seed))
        yield from _of_checks(again, seed)


def taken_up(heard: Heard) -> dict[str, Group]:
    """The groups that were told to switch, as ones that do it some snapshots later, by name."""
    taken: dict[str, Group] = {}
    for message in heard.switches:
        choice = choice_of(heard.history, message)
        moment = choice.snapshot + LATER
        plans = any(isinstance(event, Switch) for event in choice.group.events)
        if not plans and moment < len(heard.history.moments):
            later = replace(choice, snapshot=moment, owners=None)
            way = later.takes() if choice.owners is None else _follows(later, heard)
            taken.setdefault(choice.group.name, way)
    return taken


def _follows(later: Choice, heard: Heard) -> Group:
    """A group that lays the plan that it was told where its members read it."""
    group, history, told = later.group, heard.history, later.snapshot - LATER
    view = history.moments[told].views[history.place(group.name)]
    assert view is not None
    owners, numbers = list(view.owner), {name: number for number, name in view.members}
    places = {(group.topic(topic), n): i for i, (topic, n) in enumerate(group.partitions)}
    for row in heard.advice:
        if row.group_id == group.name and number_of(row.snapshot_id) == told:
            for move in row.moves:
                owners[places[move.topic, move.partition]] = numbers[move.to_member or ""]
    event = Follow(at=at(later.snapshot), owners=tuple(owners), by=later.to)
    return replace(group, events=(*group.events, event))


def number_of(snapshot_id: str) -> int:
    """The number of a snapshot."""
    return int(snapshot_id[-6:], 16)


def _of_checks(heard: Heard, seed: int) -> Iterator[Compared]:
    """What is said of switches that were taken up, beside the same groups without them."""
    groups = {group.name: group for group in heard.history.groups}
    rows = {row.group_id: row for row in heard.advice if row.checks}
    ways: dict[str, tuple[int, Outcome, Outcome]] = {}
    for name in rows:
        events = groups[name].events
        switch = next(event for event in events if isinstance(event, Switch))
        stays = Group(
            **{**groups[name].__dict__, "events": tuple(e for e in events if e is not switch)}
        )
        first = int(switch.at // EVERY)
        would, came = (
            outcome(simulate([way], SNAPSHOTS, seed), first) for way in (stays, groups[name])
        )
        ways[name] = (first, would, came)
    for row in heard.advice:
        for check in row.checks:
            if check.if_stayed_low is not None:
                now = number_of(row.snapshot_id)
                yield from _of_check(check, row.group_id, now, str(row.state), *ways[row.group_id])


def _of_check(
    check: AdviceCheck, name: str, now: int, state: str, first: int, stays: Outcome, came: Outcome
) -> Iterator[Compared]:
    seconds = (now - first) * EVERY
    assert check.if_stayed_low is not None
    assert check.if_stayed_high is not None
    true = {
        "lag": float(stays.history.lag(name)[now]),
        "delay_seconds": float(stays.late[round(seconds / STEP)]),
    }
    yield Compared(
        group=name,
        snapshot=now,
        state=state,
        measure=f"{check.measure} after {check.after_seconds} s",
        low=check.if_stayed_low,
        expected=check.if_stayed,
        high=check.if_stayed_high,
        came=check.actual or 0.0,
        true=true[check.measure],
    )
    if check.saved_low is not None and check.saved_high is not None:
        yield Compared(
            group=name,
            snapshot=now,
            state=state,
            measure=f"saved after {check.after_seconds} s",
            low=check.saved_low,
            expected=check.saved,
            high=check.saved_high,
            came=came.integral(seconds),
            true=stays.integral(seconds) - came.integral(seconds),
        )


def _of_regrets(heard: Heard, seed: int) -> Iterator[Compared]:
    """What is said to be missed by not switching, beside the same groups that do."""
    groups = {group.name: group for group in heard.history.groups}
    regrets: dict[tuple[str, int], Regret] = {}
    choices = list[Choice]()
    for row in heard.advice:
        for regret in row.regrets:
            group, first = groups[row.group_id], snapshot_at(regret.since.isoformat())
            whole = snapshot_at(regret.until.isoformat()) - first == HOUR // EVERY
            if whole and regret.strategy in (MODERN if group.modern else (*CLASSIC, "sticky")):
                listed = group.modern or regret.strategy in group.lists
                choices.append(
                    Choice(
                        group=group,
                        snapshot=first,
                        to=regret.strategy,
                        bounces=1 if listed else 2,
                    )
                )
                regrets[group.name, first] = regret
    for way in walked(heard.history, choices, seed, free=False):
        one = regrets[way.fork.group.name, way.fork.snapshot]
        plans = any(
            isinstance(e, Switch) and 0 <= e.at - at(way.fork.snapshot) < HOUR
            for e in way.fork.group.events
        )
        if not plans:
            yield Compared(
                group=way.fork.group.name,
                snapshot=way.fork.snapshot,
                state=str(one.state or "silent"),
                measure="regret",
                low=one.saved_low,
                expected=one.saved,
                high=one.saved_high,
                came=one.came,
                true=way.gain() * HOUR,
            )


def lines(found: Sequence[Compared]) -> Iterator[str]:
    """Quantiles of errors, over the larger of what came and what would have been, by measure."""
    for measure in sorted({each.measure for each in found}):
        own = [each for each in found if each.measure == measure]
        held = np.mean([each.low <= each.true <= each.high for each in own])
        known = [each for each in own if each.expected is not None]
        error = [
            ((each.expected or 0.0) - each.true) / max(abs(each.true), abs(each.came), 1.0)
            for each in known
        ]
        low, middle, high = np.quantile(error, (0.1, 0.5, 0.9)) if error else [np.nan] * 3
        yield (
            f"{measure:30} {len(own):4}, expected {len(known):4}, held {held:.2f}, "
            f"error p10 {low:+.3f}, p50 {middle:+.3f}, p90 {high:+.3f}"
        )


if __name__ == "__main__":
    sys.exit(main())
