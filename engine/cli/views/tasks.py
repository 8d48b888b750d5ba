"""What `evenkeel tasks` prints of a Kafka Streams application: its racks now, then each strategy, clients, tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...messages.wording import words
from ...model.facts import Fact
from ...model.formats import NOTHING, UNKNOWN, number
from ...model.text import listed, printable, several
from ...records import PlacementRow, row_of
from ...streams.compare import PlacementOutcome
from ...streams.live import Running
from ...streams.separate_copies import about_copies
from .columns import Shown, short, table
from .fleet import MOST_NAME, cut_to
from .tables import Table, screen_width, tell_answer, tell_legend, tell_list, text

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
    tables = [
        _strategies(application, outcomes),
        _clients(application, outcomes, names, wide=wide),
        *([_tasks(application, outcomes, names)] if wide else []),
    ]
    lines = _labelled(application, outcomes, found)
    tell_answer(f"{name}: {tasks} on {clients}{runs}", lines, tables, wide=wide)
    tell_list("Assumed:", map(words, application.remarks), width)
    more = "" if wide else "--wide lists the tasks"
    tell_legend(tables, *_legend(application), more, width=width)


def _of(outcome: PlacementOutcome) -> str:
    return NOW if outcome.strategy is None else outcome.strategy.value


def _labelled(
    application: Running, outcomes: Sequence[PlacementOutcome], found: Sequence[Fact]
) -> list[tuple[str, str | None]]:
    """The current placement: what is read across racks, where copies are, how tasks are spread; and findings."""
    now, placed = outcomes[0], _placed(application, outcomes[0])
    reads, copies = (_share(each(application, now)) for each in (_reads, _copies_across))
    of_placements = (remark for one in outcomes for remark in one.remarks)
    remarks = dict.fromkeys([*found, *about_copies(application, outcomes[1:]), *of_placements])
    return [
        ("Traffic", f"cross-rack source partitions {reads}; cross-rack changelogs {copies}"),
        ("Stores", f"all copies in one rack {_share(_together(now))}"),
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


def _strategies(application: Running, outcomes: Sequence[PlacementOutcome]) -> Table:
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

    return table(
        [
            ("STRATEGY", name),
            (">X-RACK", lambda one: _share(_reads(application, one))),
            (">X-RACK COPIES", lambda one: _share(_copies_across(application, one))),
            (">IN ONE RACK", lambda one: _share(_together(one))),
            *short(
                PlacementRow,
                {"cost": "COST", "moves": "MOVES", "warming": "WARM-UPS"},
                lambda one: row_of(_placed(application, one)),
            ),
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


def _legend(application: Running) -> list[str]:
    costs = application.config.costs
    far = "cross-rack source partition"
    if application.app.leader_rack is not None:
        far = "source partition without a replica in the client's rack"
    return [
        "* current strategy" if application.runs else "",
        "others are baselines, the broker assigns tasks" if application.kip_1071 else "",
        f"COST: {costs.traffic} per {far} and {costs.non_overlap} per move of tasks with state, else 1 and 0",
    ]


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
