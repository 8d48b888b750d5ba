"""
`python -m tests.helpers.fluid.score [SITUATION ...] [--seed N] [--out FILE] [--forecasts] [--messages]`: how good is
what evenkeel says?

Over all situations, or some: switches told that paid and that did harm, switches that would have paid and were not
told (`ways`), messages, and how often forecasts hold what came, beside plain ones (`naive`). Prints a table, and
writes JSON. With `--messages` only these are counted, which takes a fifth of the time.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evenkeel.engine.adapters.memory import MemoryHistory
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.cli.verbs.backtest import to_json
from evenkeel.engine.cli.views import tables
from evenkeel.engine.config import Settings
from evenkeel.engine.messages.events import GroupEvent
from evenkeel.engine.messages.length import plain_text
from evenkeel.engine.pipeline.backtest import Event, Events, ForecastCheck, Message
from evenkeel.engine.pipeline.pipeline import walk
from evenkeel.engine.records import AdviceRow
from tests.helpers.fluid.calibration import ENGINE, UNCORRECTED, Foreseen, calibrated, foreseen
from tests.helpers.fluid.plan import DAY, EVERY
from tests.helpers.fluid.run import History, simulate
from tests.helpers.fluid.situations import SITUATIONS
from tests.helpers.fluid.tables import CLUSTER, snapshots
from tests.helpers.fluid.truth import SNAPSHOTS, Kind, contradictions, not_yet, snapshot_at
from tests.helpers.fluid.ways import (
    CLASSIC,
    HOUR,
    MODERN,
    PLAN,
    Choice,
    Way,
    choices,
    planned,
    walked,
)
from tests.helpers.lake_snapshots import write_taken

SAMPLED = 10
"""Snapshots from one at which silence is weighed to the next."""

PATIENCE = 6
"""Snapshots within which a switch that pays may be told and still counts as told: advice waits to be sure."""

DEAR = 1.25
"""A switch for the racks' sake does harm where it costs the lag more than so many times its stated price."""

REPEATED = (Kind.WORSE, Kind.STILL)
"""Kinds that only repeat where severity and cause are those of the message before, and no other cause came."""

NEW = (": Now also ", " expected.", "Half of retention is used", "Data loss is minutes away")
"""What a message says of a cause that came to the others, or of why the same cause is worse."""


@dataclass(kw_only=True)
class Heard:
    """All that was said of a history, what was foreseen besides, and all advice."""

    history: History
    events: list[Event] = field(default_factory=list)
    advice: list[AdviceRow] = field(default_factory=list)
    foreseen: list[Foreseen] = field(default_factory=list)

    @classmethod
    def of(cls, history: History, *, advising: bool = True) -> Heard:
        """Walk through its snapshots as `evenkeel backtest` does; each message names one group."""
        lake, memory = Recording(), MemoryHistory()
        write_taken(lake, snapshots(history))
        settings = Settings(digest_threshold=len(history.groups) + 1)
        events, heard = Events(memory, settings, CLUSTER), cls(history=history)
        for ran in walk(lake, memory, settings, CLUSTER, advising=advising):
            heard.events += events.of(ran)
            heard.advice += ran.advice
            for seen in ran.seen:
                heard.foreseen += foreseen(seen, snapshot_at(ran.at.isoformat()))
        heard.events += events.rest()
        return heard

    @property
    def switches(self) -> list[Message]:
        """The switches that were told."""
        return [e for e in self.events if isinstance(e, Message) and e.kind == Kind.SWITCH]

    def advised(self, group: str, first: int, last: int) -> bool:
        """Whether a switch was told by the last of some snapshots, and not taken back before the first."""
        told = False
        for event in self.events:
            if isinstance(event, Message) and event.group == group:
                number = snapshot_at(event.at.isoformat())
                if event.kind == Kind.SWITCH and number <= last:
                    told = True
                elif event.kind in (Kind.WITHDRAWN, Kind.ADOPTED) and number <= first:
                    told = False
        return told


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate, listen, fork, print."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.helpers.fluid.score", description=__doc__
    )
    parser.add_argument("situation", nargs="*", metavar="SITUATION", choices=[*SITUATIONS, []])
    parser.add_argument("--seed", type=int, default=7, help="of what arrives (7)")
    parser.add_argument("--out", metavar="FILE", type=Path, help="the score as JSON")
    parser.add_argument("--forecasts", action="store_true", help="only how often forecasts hold")
    parser.add_argument("--messages", action="store_true", help="count only messages")
    options = parser.parse_args(arguments)
    names = options.situation or list(SITUATIONS)
    if options.forecasts:
        found = forecasts(names, options.seed)
    else:
        found = score(names, options.seed, only_messages=options.messages)
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write("".join(f"{name:44} {value}\n" for name, value in lines(found)))
    return 0


def score(names: Sequence[str], seed: int, *, only_messages: bool = False) -> dict[str, Any]:
    """All figures of some situations, or only those of messages."""
    history = simulate([SITUATIONS[name].group for name in names], SNAPSHOTS, seed)
    heard = Heard.of(history)
    found = {"seed": seed, "situations": len(names), "messages": _messages(heard)}
    if not only_messages:
        found |= {
            "switches": _switches(heard, seed),
            "silence": _silence(heard, seed),
            "forecasts": _forecasts(heard, names),
        }
    return found | {"contradictions": list(_contradictions(heard))}


def forecasts(names: Sequence[str], seed: int) -> dict[str, Any]:
    """How often forecasts of some situations hold, which takes a tenth of the time."""
    history = simulate([SITUATIONS[name].group for name in names], SNAPSHOTS, seed)
    heard = Heard.of(history, advising=False)
    return {"seed": seed, "situations": len(names), "forecasts": _forecasts(heard, names)}


def _forecasts(heard: Heard, names: Sequence[str]) -> dict[str, Any]:
    return calibrated(
        heard.history,
        [e for e in heard.events if isinstance(e, ForecastCheck)],
        heard.foreseen,
        {name: SITUATIONS[name].season for name in names},
    )


# Switches that were told


def _switches(heard: Heard, seed: int) -> dict[str, Any]:
    told = heard.switches
    forks = [choice_of(heard.history, message) for message in told]
    of = {(one.group.name, one.snapshot): message for one, message in zip(forks, told, strict=True)}
    rows = [
        _row(of[way.fork.group.name, way.fork.snapshot], way)
        for way in walked(heard.history, forks, seed, free=True)
    ]
    of_lag = [row for row in rows if not row["for_racks"]]
    ratios = sorted(row["price_ratio"] for row in of_lag if row["price_ratio"] is not None)
    return {
        "told": len(rows),
        "for_lag": len(of_lag),
        "paid": sum(row["gain"][0] > 0 for row in of_lag),
        "harm": sum(row["harm"] for row in rows),
        "price_ratio_median": ratios[len(ratios) // 2] if ratios else None,
        "each": rows,
    }


def choice_of(history: History, message: Message) -> Choice:
    """The way that a message tells a group to take."""
    group, number = SITUATIONS[message.group].group, snapshot_at(message.at.isoformat())
    forecast, to = message.news.advice.forecast, message.news.strategy
    view = history.moments[number].views[history.place(group.name)]
    there = len(view.members) if view else 1
    known = to in (MODERN if group.modern else (*CLASSIC, "sticky"))
    return Choice(
        group=group,
        snapshot=number,
        to=to,
        owners=None if known else planned(history, group, number),
        bounces=max(1, (forecast.price_restarts or 0) // there) if forecast else 1,
    )


def _row(message: Message, way: Way) -> dict[str, Any]:
    advice = message.news.advice
    facts = {fact.measure for fact in advice.facts or ()}
    stated = advice.forecast.price_offset_seconds if advice.forecast else None
    price = None if stated is None else stated / HOUR
    for_racks = "forecast_lag_expected" not in facts
    return {
        "situation": message.group,
        "snapshot": way.fork.snapshot,
        "to": way.fork.to,
        "for_racks": for_racks,
        **_gains(way),
        "harm": way.gain() < (-DEAR * (price or 0) if for_racks else 0),
        "price": way.price,
        "price_forecast": price,
        "price_ratio": price / way.price if price is not None and way.price > 0 else None,
    }


def _gains(way: Way) -> dict[str, Any]:
    """Over each of `AHEAD`."""
    return {
        "stays": [toll.record_hours for toll in way.stays],
        "gain": [way.gain(n) for n in range(len(way.stays))],
        "gain_member_hours": [way.gain_hours(n) for n in range(len(way.stays))],
    }


# Switches that were not told


def _silence(heard: Heard, seed: int) -> dict[str, Any]:
    history = heard.history
    forks = [
        one
        for number in range(SAMPLED, SNAPSHOTS - HOUR // EVERY, SAMPLED)
        for group in history.groups
        for one in choices(history, group, number)
    ]
    by_sample: dict[tuple[str, int], list[Way]] = {}
    for way in walked(history, forks, seed, free=False):
        by_sample.setdefault((way.fork.group.name, way.fork.snapshot), []).append(way)
    rows = [_sample(heard, ways) for ways in by_sample.values()]
    paying = [row for row in rows if row["pays"]]
    silent = [row for row in paying if not row["told"]]
    groups = {row["situation"] for row in paying}
    told = {row["situation"] for row in paying if row["told"]}
    return {
        "samples": len(rows),
        "would_pay": len(paying),
        "told": len(paying) - len(silent),
        "recall": 1 - len(silent) / len(paying) if paying else None,
        "groups_that_would_gain": len(groups),
        "groups_told": len(told),
        "groups_never_told": sorted(groups - told),
        "regret_record_hours": sum(row["gain"][0] for row in silent),
        "regret_member_hours": sum(row["gain_member_hours"][0] for row in silent),
        "regret_of_plans_record_hours": sum(max(row["plan_adds"], 0) for row in rows),
        "advised_without_gain": sum(row["told"] and not row["pays"] for row in rows),
        "each": rows,
    }


def _sample(heard: Heard, ways: Sequence[Way]) -> dict[str, Any]:
    """A group at a snapshot, by the best of what it could deploy, and by what a plan would add to that."""
    group, number = ways[0].fork.group, ways[0].fork.snapshot
    follows = any("plan" in name for name in group.lists)
    can = [way for way in ways if follows or way.fork.to != PLAN]
    best = max(can, key=Way.gain)
    plan = next(way for way in ways if way.fork.to == PLAN)
    return {
        "situation": group.name,
        "snapshot": number,
        "best": best.fork.to,
        "pays": best.pays(),
        "told": heard.advised(group.name, number, number + PATIENCE),
        **_gains(best),
        "plan_adds": plan.gain() - max(best.gain(), 0) if plan.pays() else 0.0,
    }


# Messages


def _messages(heard: Heard) -> dict[str, Any]:
    said = [e for e in heard.events if isinstance(e, Message | GroupEvent)]
    days = len(heard.history.groups) * SNAPSHOTS * EVERY / DAY
    kinds = Counter(str(event.kind) for event in said)
    last: dict[str, tuple[str, frozenset[str]]] = {}
    repeated: Counter[str] = Counter()
    for event in said:
        if isinstance(event, GroupEvent):
            news = event.message.title.split(" ", 1)[0], frozenset(map(str, event.causes))
            new = any(clause in plain_text(event.message) for clause in NEW)
            if event.kind in REPEATED and last.get(event.groups[0]) == news and not new:
                repeated[str(event.kind)] += 1
            last[event.groups[0]] = news
    return {
        "per_1000_group_days": 1000 * len(said) / days,
        "kinds": dict(sorted(kinds.items())),
        "repeated": {str(kind): repeated[kind] for kind in REPEATED},
    }


def _contradictions(heard: Heard) -> Iterator[dict[str, Any]]:
    printed: list[Mapping[str, Any]] = [
        json.loads(tables.to_json(to_json(event))) for event in heard.events
    ]
    for group in heard.history.groups:
        for sentence in contradictions(SITUATIONS[group.name], printed):
            yield {"says": sentence, "known": not_yet(SITUATIONS[group.name], sentence)}


# The table


def lines(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is printed of a score."""
    yield "seed, situations", f"{found['seed']}, {found['situations']}"
    if "switches" in found:
        yield from _of_switches(found["switches"], found["silence"])
    if "messages" in found:
        yield from _of_messages(found)
    if "forecasts" in found:
        yield from _of_forecasts(found["forecasts"])


def _of_messages(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    messages, wrong = found["messages"], found["contradictions"]
    yield "messages per 1,000 group-days", f"{messages['per_1000_group_days']:,.0f}"
    yield "messages", ", ".join(f"{count} {kind}" for kind, count in messages["kinds"].items())
    for kind, count in messages["repeated"].items():
        yield f"messages '{kind}', only repeated", f"{messages['kinds'].get(kind, 0)}, {count}"
    yield "contradictions, of these known", f"{len(wrong)}, {sum(one['known'] for one in wrong)}"


def _of_switches(
    switches: Mapping[str, Any], silence: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    yield "switches told for lag, paid", f"{switches['for_lag']}, {switches['paid']}"
    yield "switches that did harm", f"{switches['harm']}"
    yield "price forecast over true price, median", _number(switches["price_ratio_median"])
    yield (
        "samples, that would pay, of these told",
        ", ".join(str(silence[key]) for key in ("samples", "would_pay", "told")),
    )
    yield "recall of samples", _number(silence["recall"])
    yield (
        "groups that would gain, told",
        (f"{silence['groups_that_would_gain']}, {silence['groups_told']}"),
    )
    yield (
        "regret, record-hours and member-hours",
        (f"{silence['regret_record_hours']:,.0f}, {silence['regret_member_hours']:,.1f}"),
    )
    yield "what plans would add, record-hours", f"{silence['regret_of_plans_record_hours']:,.0f}"


def _of_forecasts(forecasts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for seconds, of in forecasts["lag"].items():
        for method, figures in of.items():
            held, error = _number(figures["held"]), _number(figures["error_seconds"])
            yield (
                f"lag {seconds} s ahead, {method}: held, error",
                f"{held}, {error} s ({figures['count']:,})",
            )
        for method in (UNCORRECTED, ENGINE):
            worst = ", ".join(_number(of[method][key]) for key in ("nine_in_ten", "worst_tenth"))
            yield f"lag {seconds} s ahead, {method}: 9 in 10, worst tenth", worst
    for due, figures in forecasts["end"].items():
        yield f"caught up {due}: held", f"{_number(figures['held'])} ({figures['count']:,})"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    sys.exit(main())
