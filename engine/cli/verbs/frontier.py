"""`evenkeel frontier`: what less cross-rack traffic would cost a group in moves, as a table and a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenkeel.engine.cli.options import AsJson, Bootstrap, ClusterName, Stored, epilog
from evenkeel.engine.cli.running import complain
from evenkeel.engine.text import plural
from evenkeel.engine.wording import look_again, words

if TYPE_CHECKING:
    from fractions import Fraction

    from evenkeel.engine.advice.frontier import Frontier, Point
    from evenkeel.engine.cli.sources import Source
    from evenkeel.engine.cli.views.tables import Table
    from evenkeel.engine.records import FrontierRow
    from evenkeel.engine.steps.reading import GroupWithPast

EPILOG = epilog(
    [
        "evenkeel frontier orders-app --from cluster.recording",
        "evenkeel frontier orders-app --bootstrap kafka-1:9092 --picture orders.svg",
        "evenkeel frontier orders-app --from lake --cluster prod --json",
    ],
    [0, 1, 2, 3, 4],
    "KIP-925 weighs partitions that cross racks against partitions that move. Each line is the cheapest assignment for "
    "a range of weights, exactly, and together they are all of them: from the fewest moves to the least that crosses. "
    "Members keep even counts; tasks of Kafka Streams move between clients that keep theirs. The picture is written "
    "beside where you are, unless --picture says where.",
)

STREAMS_DEFAULT = 10
"""What a crossing partition is worth in moves by default in Kafka Streams."""


def frontier(
    group: Annotated[str, typer.Argument(metavar="GROUP", help="A group id or pattern.")],
    bootstrap: Bootstrap = None,
    cluster: ClusterName = None,
    stored: Stored = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            "--picture",
            metavar="FILE",
            help="Where the picture goes: .png, .svg or .pdf (default: frontier-GROUP.png; with --json none).",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show cross-rack traffic against moves for one group, as the two are weighed differently."""
    from evenkeel.engine.cli import sources
    from evenkeel.engine.cli.views.pictures import check_kind
    from evenkeel.engine.errors import InputError

    if picture is not None:
        check_kind(picture, "--picture")
    source = sources.open_source(bootstrap, cluster, stored)
    groups = sources.selected(source, group)
    if picture is not None and len(groups) > 1:
        raise InputError(
            f"--picture takes one group, {group!r} matches {len(groups):,}.",
            fix="Name one; without --picture each gets a picture of its own.",
        )
    sources.each_of(
        groups, lambda each: _print(source, each, picture, as_json=as_json), apart=not as_json
    )


def _print(
    source: Source, selection: GroupWithPast, picture: Path | None, *, as_json: bool
) -> None:
    """
    Raises:
        Infeasible: The group has no frontier.
        InputError: The picture that was asked for cannot be written.
    """
    from evenkeel.engine.cli.views.frontier_picture import draw
    from evenkeel.engine.cli.views.tables import emit, show, tell
    from evenkeel.engine.errors import InputError

    group = selection.group.group
    now, swept = _swept(source, selection)
    if as_json:
        emit(_rows(group, now, swept))
    else:
        show([_table(group, now, swept)])
        tell(["", *_remarks(swept)])
    if picture is None and as_json:
        return
    try:
        file = draw(group, now, swept, picture or Path(f"frontier-{_plain(group)}.png"))
    except InputError as problem:
        if picture is not None:
            raise
        complain(f"no picture: {problem}")  # nobody asked for it, and the table is there
    else:
        complain(f"picture: {file}")


def _swept(source: Source, selection: GroupWithPast) -> tuple[Point, list[Frontier]]:
    """
    The group as it is, and its frontiers.

    Raises:
        Infeasible: The group cannot be replayed, its data is not trusted, or a rack is missing.
    """
    from evenkeel.engine.advice import blocked
    from evenkeel.engine.advice.frontier import frontiers, present
    from evenkeel.engine.assignor import spec_of
    from evenkeel.engine.errors import Infeasible
    from evenkeel.engine.steps.measure import observe_group

    stuck = blocked(selection.group)
    why = selection.withheld or (stuck and words(stuck))
    if why is not None:
        raise Infeasible(
            f"group {selection.group.group} has no frontier: {why}.",
            fix=look_again(selection.group),
        )
    seen = observe_group(source.settings, selection.group, selection.earlier)
    spec = spec_of(selection.group, seen.lag.for_people, seen.production.per_second)
    try:
        if selection.group.places_tasks:
            return _of_tasks(source, selection, seen.production.per_second)
        return present(spec), frontiers(spec)
    except Infeasible as problem:
        told = f"group {selection.group.group} has no frontier: {problem.message}"
        raise Infeasible(told, fix=problem.fix) from problem


_FIXES = {"tasks_run_nowhere": "Look again when all tasks run."}
_SET_RACKS = "Set client.rack on every instance and broker.rack on every broker."


def _of_tasks(
    source: Source, selection: GroupWithPast, per_second: Any
) -> tuple[Point, list[Frontier]]:
    """The same of a Kafka Streams application, whose tasks move."""
    from evenkeel.engine.advice.frontier_tasks import missing, task_frontiers
    from evenkeel.engine.errors import Infeasible
    from evenkeel.engine.streams.live import running

    group, table = selection.group, selection.group.partitions
    application = running(group, source.settings.rule(group.cluster, group.group).streams)
    lacking = missing(application)
    if lacking is not None:
        raise Infeasible(f"{words(lacking)}.", fix=_FIXES.get(lacking.measure, _SET_RACKS))
    keys = zip(table.names, table.partition.tolist(), strict=True)
    return task_frontiers(application, dict(zip(keys, per_second.tolist(), strict=True)))


def _rows(group: str, now: Point, swept: Sequence[Frontier]) -> Iterator[dict[str, Any]]:
    from evenkeel.engine.records import to_json

    yield {"group": group, **to_json(_row("live", now))}
    for curve in swept:
        for corner in curve.corners:
            yield {
                "group": group,
                **to_json(_row(curve.strategy, corner)),
                "worth_from": float(corner.lowest or 0),
                "worth_to": None if corner.highest is None else float(corner.highest),
                "remarks": [words(remark) for remark in curve.remarks],
            }


def _row(strategy: str, point: Point) -> FrontierRow:
    from evenkeel.engine.records import FrontierRow

    return FrontierRow(
        strategy=strategy,
        cross_rack_partitions=point.crossing,
        cross_rack_share=point.share,
        cross_rack_per_second=point.rate,
        moves=point.moves,
        newly_owned=point.newly_owned,
    )


def _table(group: str, now: Point, swept: Sequence[Frontier]) -> Table:
    from evenkeel.engine.cli.views.columns import cells, heads
    from evenkeel.engine.cli.views.tables import Table, text
    from evenkeel.engine.columns import columns_of
    from evenkeel.engine.records import FrontierRow, row_of

    points = [("live", now), *((one.strategy, corner) for one in swept for corner in one.corners)]
    rows = [row_of(_row(strategy, point)) for strategy, point in points]
    idle = {
        "cross_rack_per_second": all(point.rate is None for _, point in points),
        "newly_owned": not any(point.newly_owned for _, point in points),
    }
    columns = [spec for spec in columns_of(FrontierRow) if not idle.get(spec.name)]
    worth = [_worth(point) if name != "live" else "(as it is)" for name, point in points]
    return Table(
        title=f"Cross-rack traffic against moves for {text(group)}",
        headings=[*heads(columns), "Cheapest where a\ncrossing partition\nis worth"],
        rows=[[*cells(columns, row), told] for row, told in zip(rows, worth, strict=True)],
        spare=["Cross rack", "Offsets/s that cross", "Newly owned"],
    )


def _worth(point: Point) -> str:
    """The weights for which a corner is the cheapest, in moves per crossing partition."""
    lowest, highest = point.lowest or 0, point.highest
    told = f"{_moves(lowest)} or more" if lowest else "anything"
    if highest is not None:
        told = f"{_number(lowest)} to {_moves(highest)}" if lowest else f"up to {_moves(highest)}"
    usual = lowest <= STREAMS_DEFAULT and (highest is None or STREAMS_DEFAULT <= highest)
    return f"{told} (so by default)" if usual else told


def _number(moves: Fraction | int) -> str:
    return f"{float(moves):.3g}"


def _moves(moves: Fraction | int) -> str:
    """
    >>> from fractions import Fraction
    >>> _moves(1), _moves(Fraction(3, 2))
    ('1 move', '1.5 moves')
    """
    return f"{_number(moves)} {plural('move', float(moves))}"


def _remarks(swept: Sequence[Frontier]) -> list[str]:
    told = [f"{one.strategy}: {words(remark)}" for one in swept for remark in one.remarks]
    usual = f"By default a crossing partition is worth {STREAMS_DEFAULT} moves in Kafka Streams."
    return [*told, usual]


def _plain(name: str) -> str:
    """A group id as part of a file's name."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name)[:100]
