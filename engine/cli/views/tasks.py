"""What `evenkeel tasks` prints of a Kafka Streams application: its racks now, then each strategy, clients, tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...messages.wording import words
from ...model.columns import columns_of
from ...model.facts import Fact
from ...model.formats import NOTHING, UNKNOWN, number
from ...model.text import listed, printable, several
from ...records import PlacementRow, row_of
from ...streams.compare import PlacementOutcome
from ...streams.live import Running
from ...streams.separate_copies import about_copies
from .columns import Shown, cell, table
from .fleet import MOST_NAME, cut_to
from .tables import Table, legend_of, screen_width, show, tell, tell_labelled, text

NOW = "now"


def show_application(
    group: str,
    application: Running,
    outcomes: Sequence[PlacementOutcome],
    names: Sequence[str],
    found: Sequence[Fact] = (),
    *,
    wide: bool = False,
) -> None:
    """
    Print an application now and under each strategy.

    Args:
        group: Its group id.
        application: It.
        outcomes: Its current placement, then each strategy.
        names: A name for each client.
        found: Problems with its racks.
        wide: Whether all tasks and columns are shown.
    """
    width = screen_width()
    app = application.app
    runs = f", strategy {application.runs.value}" if application.runs else ""
    name = cut_to(printable(group), MOST_NAME)
    tasks, clients = several(len(app.tasks), "task"), several(len(app.clients), "client")
    tell([f"{name}: {tasks} on {clients}{runs}"], width=width)
    print()
    tell_labelled(_labelled(application, outcomes, found), width)
    print()
    tables = [
        _strategies(application, outcomes),
        _clients(application, outcomes, names, wide=wide),
        *([_tasks(application, outcomes, names)] if wide else []),
    ]
    show(tables, wide=wide, legend=False)
    assumed = [text(f"  {words(each)}") for each in application.remarks]
    if assumed:
        tell(["", "Assumed:"])
        tell(assumed, 2, width=width)
    tell(["", *_legend(application, tables, wide=wide)], width=width)


def _of(outcome: PlacementOutcome) -> str:
    return NOW if outcome.strategy is None else outcome.strategy.value


def _labelled(
    application: Running, outcomes: Sequence[PlacementOutcome], found: Sequence[Fact]
) -> list[tuple[str, str | None]]:
    """The current placement: what is read across racks, where copies are, how tasks are spread; and findings."""
    now, placed = outcomes[0], _placed(application, outcomes[0])
    traffic = [
        _in_words(_reads(application, now), "source partitions read across racks"),
        _in_words(_copies_across(application, now), "changelogs restored across racks"),
    ]
    of_placements = (remark for one in outcomes for remark in one.remarks)
    remarks = dict.fromkeys([*found, *about_copies(application, outcomes[1:]), *of_placements])
    return [
        ("Traffic", ", ".join(filter(None, traffic))),
        ("Stores", _in_words(_together(now), "have all copies in one rack")),
        ("Tasks", f"{_spread(placed)} on each client"),
        *(("Finding", printable(words(each))) for each in remarks),
    ]


def _spread(row: PlacementRow) -> str:
    least, most = row.fewest_tasks, row.most_tasks
    return f"{least:,}" if least == most else f"{least:,}-{most:,}"


_Share = tuple[int, int, int]
"""How many of how many, and how many of these are unknown."""


def _reads(application: Running, one: PlacementOutcome) -> _Share:
    return int(one.crossing.sum()), len(application.app.source), int(one.unknown.sum())


def _copies_across(application: Running, one: PlacementOutcome) -> _Share:
    stores = np.diff(application.app.changelog_start)
    restored = int((stores * np.diff(one.copies_start)).sum())
    return one.copies_crossing, restored, one.copies_unknown


def _together(one: PlacementOutcome) -> _Share:
    unknown, judged = int(one.stores.unknown.sum()), int(one.stores.judged.sum())
    return int(one.stores.together.sum()), judged + unknown, unknown


def _in_words(share: _Share, what: str) -> str | None:
    """
    >>> _in_words((2, 12, 0), "are far"), _in_words((2, 12, 3), "are far"), _in_words((0, 0, 0), "are far")
    ('2 of 12 are far', '2 of 9 are far (3 unknown)', None)
    """
    part, total, unknown = share
    if not total or unknown == total:
        return f"unknown how many {what}" if total else None
    return f"{part:,} of {total - unknown:,} {what}" + (
        f" ({unknown:,} unknown)" if unknown else ""
    )


def _strategies(application: Running, outcomes: Sequence[PlacementOutcome]) -> Table:
    specs = {spec.name: spec for spec in columns_of(PlacementRow)}

    def name(one: PlacementOutcome) -> str:
        runs = one.strategy is not None and one.strategy is application.runs
        return text(_of(one) + " *" * runs)

    def racks(one: PlacementOutcome) -> str:
        if one.strategy is None:
            return NOTHING
        if one.racks_off is not None:
            return text(words(one.racks_off))
        untold = one.untold.subjects if one.untold is not None else ()
        return text(f"counted once client.rack is set on {listed(untold)}" if untold else "counted")

    def told(column: str) -> Callable[[PlacementOutcome], str]:
        def of(one: PlacementOutcome) -> str:
            row = row_of(_placed(application, one))
            return cell(specs[column], row[column], row)

        return of

    return table(
        [
            ("STRATEGY", name),
            (">X-RACK", lambda one: _share(_reads(application, one))),
            (">X-RACK COPIES", lambda one: _share(_copies_across(application, one))),
            (">IN ONE RACK", lambda one: _share(_together(one))),
            (">COST", told("cost")),
            (">MOVES", told("moves")),
            (">WARM-UPS", told("warming")),
            (">TASKS", lambda one: _spread(_placed(application, one))),
            ("RACKS", racks),
        ],
        outcomes,
        apart=True,
        spare=["TASKS", "WARM-UPS"],
    )


def _placed(application: Running, outcome: PlacementOutcome) -> PlacementRow:
    """The current placement has nothing to move or to warm up."""
    counts = Counter(outcome.owner[outcome.owner >= 0].tolist())
    each = [counts[client] for client in range(len(application.app.clients))]
    return PlacementRow(
        strategy=_of(outcome),
        cost=outcome.cost,
        moves=None if outcome.strategy is None else outcome.moves,
        warming=None if outcome.strategy is None else outcome.warming,
        most_tasks=max(each),
        fewest_tasks=min(each),
    )


def _share(share: _Share) -> str:
    """`2 of 12`, and how many are unknown."""
    crossing, total, unknown = share
    if not total:
        return NOTHING
    if unknown == total:
        return UNKNOWN
    return f"{crossing:,} of {total - unknown:,}" + (f", {unknown:,} ?" if unknown else "")


def _clients(
    application: Running,
    outcomes: Sequence[PlacementOutcome],
    names: Sequence[str],
    *,
    wide: bool,
) -> Table:
    app = application.app

    def placed(one: PlacementOutcome) -> Shown:
        active, copies = Counter(one.owner.tolist()), Counter(one.copies.tolist())

        def counted(client: int) -> str:
            kept = f" + {copies[client]:,}" if copies[client] else ""
            return f"{active[client]:,}{kept}"

        return f">{_of(one)}", counted

    def tags(client: int) -> str:
        return text(", ".join(f"{k}={v}" for k, v in sorted(app.tags[client].items())))

    details: list[Shown] = [("PROCESS", lambda client: text(app.clients[client])), ("TAGS", tags)]
    return table(
        [
            ("CLIENT", lambda client: names[client]),
            ("RACK", lambda client: text(_rack(application, client), UNKNOWN)),
            *(details if wide else []),
            (">THREADS", lambda client: number(int(app.threads[client]))),
            *map(placed, outcomes),
        ],
        range(len(app.clients)),
        title="Clients: active tasks + copies",
    )


def _rack(application: Running, client: int) -> str | None:
    place = int(application.app.known_rack[client])
    return None if place < 0 else application.app.racks[place]


def _tasks(
    application: Running, outcomes: Sequence[PlacementOutcome], names: Sequence[str]
) -> Table:
    app = application.app

    def owner(one: PlacementOutcome) -> Shown:
        def told(task: int) -> str:
            client, crossing = int(one.owner[task]), int(one.crossing[task])
            if client < 0:
                return "no client"
            if one.unknown[task]:
                return f"{names[client]} (?)"
            return f"{names[client]} ({crossing})" if crossing else names[client]

        return _of(one), told

    def reads(task: int) -> str:
        return text(", ".join(f"{t}-{p}" for t, p in _read(application, task)))

    def copies(task: int) -> str:
        return text(", ".join(names[client] for client in _copies(outcomes[0], task)))

    return table(
        [
            ("TASK", lambda task: app.tasks[task]),
            ("READS", reads),
            (
                "REPLICAS IN",
                lambda task: text(" / ".join(_racks_of(application, task)), UNKNOWN),
            ),
            ("STATE", lambda task: "stateful" if app.stateful[task] else NOTHING),
            ("COPIES NOW", copies),
            *map(owner, outcomes),
        ],
        range(len(app.tasks)),
        title="Tasks: their client (partitions read across racks)",
    )


def _read(application: Running, task: int) -> list[tuple[str, int]]:
    app = application.app
    own = app.source[app.source_start[task] : app.source_start[task + 1]]
    return [app.partitions[p] for p in own.tolist()]


def _racks_of(application: Running, task: int) -> list[str]:
    """For each partition a task reads, the racks of its replicas."""
    app, told = application.app, []
    for p in app.source[app.source_start[task] : app.source_start[task + 1]].tolist():
        racks = app.replica_rack[app.replica_start[p] : app.replica_start[p + 1]].tolist()
        known = {app.racks[r] if r >= 0 else UNKNOWN for r in racks}
        told.append(",".join(sorted(known)) or UNKNOWN)
    return told


def _copies(outcome: PlacementOutcome, task: int) -> list[int]:
    copies: list[int] = outcome.copies[
        outcome.copies_start[task] : outcome.copies_start[task + 1]
    ].tolist()
    return copies


def _legend(application: Running, tables: Sequence[Table], *, wide: bool) -> list[str]:
    costs = application.config.costs
    far = "cross-rack source partition"
    if application.app.leader_rack is not None:
        far = "source partition without a replica in the client's rack"
    told = [
        legend_of(tables),
        "* current strategy" if application.runs else "",
        "others are baselines, the broker assigns tasks" if application.kip_1071 else "",
        f"COST: {costs.traffic} per {far} and {costs.non_overlap} per move of tasks with state, else 1 and 0",
        "" if wide else "--wide lists the tasks",
    ]
    return [f"({'; '.join(filter(None, told))})"]


def to_object(
    group: str,
    application: Running,
    outcomes: Sequence[PlacementOutcome],
    names: Sequence[str],
    found: Sequence[Fact] = (),
) -> dict[str, Any]:
    """The same for machines: clients, tasks with all placements, and a summary per strategy."""
    app = application.app
    return {
        "group": group,
        "strategy": application.runs,
        "strategy_configured": application.configured is not None,
        "said": [words(each) for each in application.remarks],
        "findings": [words(each) for each in found],
        "clients": [
            {
                "process_id": process,
                "name": names[client],
                "rack": _rack(application, client),
                "sends_rack": bool(app.client_rack[client] >= 0),
                "tags": dict(app.tags[client]),
                "threads": int(app.threads[client]),
            }
            for client, process in enumerate(app.clients)
        ],
        "tasks": [
            {
                "task": app.tasks[task],
                "stateful": bool(app.stateful[task]),
                "reads": [f"{t}-{p}" for t, p in _read(application, task)],
                "replica_racks": _racks_of(application, task),
                "placements": {
                    _of(one): {
                        "active": None if one.owner[task] < 0 else app.clients[one.owner[task]],
                        "copies": [app.clients[c] for c in _copies(one, task)],
                        "cross_rack_partitions": None
                        if one.unknown[task]
                        else int(one.crossing[task]),
                        "in_one_rack": bool(one.stores.together[task])
                        if one.stores.judged[task]
                        else None,
                    }
                    for one in outcomes
                },
            }
            for task in range(len(app.tasks))
        ],
        "strategies": [
            {
                "strategy": _of(one),
                "cross_rack_partitions": int(one.crossing.sum()),
                "unknown_partitions": int(one.unknown.sum()),
                "copies_cross_rack_partitions": one.copies_crossing,
                "copies_unknown_partitions": one.copies_unknown,
                "stores_in_one_rack": int(one.stores.together.sum()),
                "stores_judged": int(one.stores.judged.sum()),
                "stores_unknown": int(one.stores.unknown.sum()),
                "cost": one.cost,
                "moves": one.moves,
                "warming": one.warming,
                "racks_off": one.racks_off and words(one.racks_off),
                "client_rack_missing": list(one.untold.subjects) if one.untold else [],
                "findings": [
                    words(each)
                    for each in (
                        one.placement.findings
                        if one.placement
                        else about_copies(application, outcomes[1:])
                    )
                ],
            }
            for one in outcomes
        ],
    }
