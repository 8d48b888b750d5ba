"""
What less cross-rack traffic costs a group in moves: what `evenkeel advise --tradeoff` prints below a group.

KIP-925 weighs partitions that cross racks against partitions that move. Each line is the cheapest assignment for a
range of weights, exactly, and together they are all of them: from the fewest moves to the least that crosses. Members
keep even counts. For a Kafka Streams application each line follows from settings, which are listed below the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ...advice import blocked
from ...advice.task_tradeoff import missing, task_tradeoffs
from ...advice.tradeoff import Point, Tradeoff, present, tradeoffs
from ...assignors.interface import spec_of
from ...config import Settings, StreamsSettings
from ...messages.wording import look_again, words
from ...model.errors import Infeasible
from ...model.facts import note
from ...model.text import plural
from ...pipeline.measure import observe_group
from ...records import TradeoffRow, row_of, to_json
from ...snapshots.groups_with_past import GroupWithPast
from ...streams.live import running
from ...streams.settings import StickyTasks
from .columns import short, table
from .tables import Table, screen_width, show, tell, tell_legend, text

STREAMS_DEFAULT = 10
"""What a crossing partition is worth in moves by default in Kafka Streams."""


def print_tradeoff(settings: Settings, selection: GroupWithPast) -> None:
    """The table of a group, or why there is none."""
    print()
    try:
        now, swept = _swept(settings, selection)
    except Infeasible as problem:
        tell([text(f"No cross-rack traffic against moves: {problem}")], width=screen_width())
        return
    width = screen_width()
    shown = _table(selection.group.group, now, swept)
    show([shown], legend=False)
    said: dict[str, list[str]] = {}
    for one in swept:
        for remark in one.remarks:
            said.setdefault(words(remark), []).append(one.strategy)
    told = [f"{', '.join(names)}: {remark}" for remark, names in said.items()]
    usual = f"Kafka Streams weighs a cross-rack partition like {STREAMS_DEFAULT} moves by default."
    tell(["", *told, usual], width=width)
    headings = [heading.removeprefix(">") for heading in shown.headings]
    meant = [f"{each}: {_MEANT[each]}" for each in headings if each in _MEANT]
    tell_legend([shown], *meant, width=width)
    for strategy, point in ((one.strategy, corner) for one in swept for corner in one.corners):
        if point.settings:
            ends = f"{point.moves:,} {plural('move', point.moves)}, {point.crossing:,} across racks"
            apart = "" if point.together is None else f", {point.together:,} stores in one rack"
            lines = [f"{name}={value}" for name, value in point.settings.items()]
            tell(["", f"# {strategy}: {ends}{apart}", *lines])


def tradeoff_object(settings: Settings, selection: GroupWithPast) -> dict[str, Any]:
    """The same for machines, as keys of the group's object: `tradeoff` is null where there is none, with the reason."""
    try:
        now, swept = _swept(settings, selection)
    except Infeasible as problem:
        return {"tradeoff": None, "tradeoff_reason": problem.message}
    return {"tradeoff": list(_rows(now, swept)), "tradeoff_reason": None}


def _swept(settings: Settings, selection: GroupWithPast) -> tuple[Point, list[Tradeoff]]:
    """
    The current assignment of the group, and its tradeoffs.

    Raises:
        Infeasible: The group cannot be replayed, its data is not trusted, or a rack is missing.
    """
    stuck = blocked(selection.group)
    why = selection.withheld or (stuck and words(stuck))
    if why is not None:
        raise Infeasible(f"{why}.", fix=look_again(selection.group))
    group = selection.group
    seen = observe_group(settings, group, selection.earlier)
    if group.places_tasks:
        return _of_tasks(settings, selection, seen.production.per_second)
    spec = spec_of(group, seen.lag.for_people, seen.production.per_second)
    return present(spec), tradeoffs(spec)


_FIXES = {"tasks_run_nowhere": "Ask again once all tasks run."}
_SET_RACKS = "Set client.rack on every instance and broker.rack on every broker."


def _of_tasks(
    settings: Settings, selection: GroupWithPast, per_second: Any
) -> tuple[Point, list[Tradeoff]]:
    """The same of a Kafka Streams application, whose tasks move."""
    group, table = selection.group, selection.group.partitions
    told = settings.rule(group.cluster, group.group).streams or StreamsSettings()
    application = running(group, told)
    leaving = application.own is StickyTasks.CLIENT  # the rack strategies are another assignor's
    if leaving:
        application = running(group, told.model_copy(update={"task_assignor": "high-availability"}))
    lacking = missing(application)
    if lacking is not None:
        raise Infeasible(f"{words(lacking)}.", fix=_FIXES.get(lacking.measure, _SET_RACKS))
    keys = zip(table.names, table.partition.tolist(), strict=True)
    now, swept = task_tradeoffs(application, dict(zip(keys, per_second.tolist(), strict=True)))
    if leaving:
        swept = [
            replace(
                one, remarks=(note("after_restart_leaving_sticky", [one.strategy]), *one.remarks)
            )
            for one in swept
        ]
    return now, swept


def _rows(now: Point, swept: Sequence[Tradeoff]) -> Iterator[dict[str, Any]]:
    yield to_json(_row("live", now))
    for curve in swept:
        for corner in curve.corners:
            yield {
                **to_json(_row(curve.strategy, corner)),
                "worth_from": None if corner.lowest is None else float(corner.lowest),
                "worth_to": None if corner.highest is None else float(corner.highest),
                "settings": dict(corner.settings) or None,
                "remarks": [words(remark) for remark in curve.remarks],
            }


def _row(strategy: str, point: Point) -> TradeoffRow:
    return TradeoffRow(
        strategy=strategy,
        cross_rack_partitions=point.crossing,
        cross_rack_share=point.share,
        cross_rack_per_second=point.rate,
        moves=point.moves,
        newly_owned=point.newly_owned,
        stateful_moves=point.stateful,
        restored_offsets=point.restored,
        stores_in_one_rack=point.together,
        stores_judged=point.judged,
    )


def _table(group: str, now: Point, swept: Sequence[Tradeoff]) -> Table:
    points = [("live", now), *((one.strategy, corner) for one in swept for corner in one.corners)]
    idle = {
        "cross_rack_per_second": all(point.rate is None for _, point in points),
        "newly_owned": not any(point.newly_owned for _, point in points),
        "stateful_moves": now.stateful is None,
        "restored_offsets": now.stateful is None,
        "stores_in_one_rack": now.judged is None,
    }
    headings = {name: each for name, each in _SHORT.items() if not idle.get(name)}
    return table(
        [
            *short(TradeoffRow, headings, lambda line: row_of(_row(*line))),
            (
                "CHEAPEST IF CROSSING COSTS",
                lambda line: "(current)" if line[1] is now else _worth(line[1]),
            ),
        ],
        points,
        title=f"Cross-rack traffic against moves for {text(group)}",
        spare=["X-RACK", "RECORDS/S", "NEW"],
    )


_SHORT = {
    "strategy": "STRATEGY",
    "cross_rack_partitions": "CROSS-RACK",
    "cross_rack_share": "X-RACK",
    "cross_rack_per_second": "RECORDS/S",
    "moves": "MOVES",
    "newly_owned": "NEW",
    "stateful_moves": "STATEFUL",
    "restored_offsets": "RESTORED",
    "stores_in_one_rack": "IN ONE RACK",
}

_MEANT = {
    "CROSS-RACK": "cross-rack partitions",
    "RECORDS/S": "cross-rack records/s",
    "NEW": "partitions without an owner now",
    "STATEFUL": "moves of tasks with state",
    "RESTORED": "records to restore",
    "IN ONE RACK": "stores with all copies in one rack",
}


def _worth(point: Point) -> str:
    """The weights for which a corner is the cheapest, in moves per crossing partition."""
    if point.lowest is None:
        return "(no weights)"
    lowest, highest = point.lowest, point.highest
    told = f"{_moves(lowest)} or more" if lowest else "anything"
    if highest is not None:
        told = f"{_number(lowest)} to {_moves(highest)}" if lowest else f"up to {_moves(highest)}"
    usual = lowest <= STREAMS_DEFAULT and (highest is None or STREAMS_DEFAULT <= highest)
    return f"{told} (default)" if usual else told


def _number(moves: Fraction | int) -> str:
    return f"{float(moves):.3g}"


def _moves(moves: Fraction | int) -> str:
    """
    >>> from fractions import Fraction
    >>> _moves(1), _moves(Fraction(3, 2))
    ('1 move', '1.5 moves')
    """
    return f"{_number(moves)} {plural('move', float(moves))}"
