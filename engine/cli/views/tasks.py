"""What `evenkeel tasks` shows of a Kafka Streams application: clients, tasks, and where each strategy puts them."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...messages.wording import words
from ...model.columns import columns_of
from ...model.facts import Fact
from ...model.formats import NOTHING, UNKNOWN, number
from ...model.text import listed, printable
from ...records import PlacementRow, row_of
from ...streams.compare import PlacementOutcome
from ...streams.live import Running
from ...streams.separate_copies import about_copies
from .columns import Shown, head, table
from .tables import Table, show, tell, text

TASKS_SHOWN = 60
"""As many tasks fit a screen; elsewhere all are printed."""

NOW = "now"


def show_application(
    group: str,
    application: Running,
    outcomes: Sequence[PlacementOutcome],
    names: Sequence[str],
    found: Sequence[Fact] = (),
) -> None:
    """
    Print an application as it runs and under each strategy.

    Args:
        group: Its group id.
        application: It.
        outcomes: What runs now, then each strategy.
        names: A name for each client.
        found: What is wrong with its racks.
    """
    show(
        [
            _summary(group, application, outcomes),
            _clients(application, outcomes, names),
            _tasks(application, outcomes, names),
        ]
    )
    tell(["", *_remarks(application, outcomes, found)])


def _of(outcome: PlacementOutcome) -> str:
    return NOW if outcome.strategy is None else outcome.strategy.value


def _summary(group: str, application: Running, outcomes: Sequence[PlacementOutcome]) -> Table:
    strategy, *measured = columns_of(PlacementRow)
    sources, stores = len(application.app.source), np.diff(application.app.changelog_start)

    def name(one: PlacementOutcome) -> str:
        runs = one.strategy is not None and one.strategy is application.runs
        return text(_of(one) + " *" * runs)

    def copies(one: PlacementOutcome) -> str:
        restored = int((stores * np.diff(one.copies_start)).sum())
        return _share(one.copies_crossing, restored, one.copies_unknown)

    def together(one: PlacementOutcome) -> str:
        unknown, judged = int(one.stores.unknown.sum()), int(one.stores.judged.sum())
        return _share(int(one.stores.together.sum()), judged + unknown, unknown)

    def racks(one: PlacementOutcome) -> str:
        if one.strategy is None:
            return NOTHING
        if one.racks_off is not None:
            return text(words(one.racks_off))
        untold = one.untold.subjects if one.untold is not None else ()
        return text(f"counted once client.rack is set on {listed(untold)}" if untold else "counted")

    return table(
        [
            (head(strategy), name),
            (
                ">Source partitions\nacross racks",
                lambda one: _share(int(one.crossing.sum()), sources, int(one.unknown.sum())),
            ),
            (">Copies' changelogs\nacross racks", copies),
            (">Stores with all\ncopies in one rack", together),
            *measured,
            ("Racks", racks),
        ],
        outcomes,
        stored=lambda one: row_of(_placed(application, one)),
        title=f"{printable(group)}: {len(application.app.tasks):,} tasks on {len(application.app.clients):,} clients",
        apart=True,
        spare=["Fewest", "Most tasks on a client"],
    )


def _placed(application: Running, outcome: PlacementOutcome) -> PlacementRow:
    """What runs now has nothing to move or to warm up."""
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


def _share(crossing: int, total: int, unknown: int) -> str:
    """`2 of 12`, and how many of them are not known."""
    if not total:
        return NOTHING
    if unknown == total:
        return UNKNOWN
    return f"{crossing:,} of {total - unknown:,}" + (f", {unknown:,} ?" if unknown else "")


def _clients(
    application: Running, outcomes: Sequence[PlacementOutcome], names: Sequence[str]
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

    return table(
        [
            ("Client", lambda client: names[client]),
            ("Process", lambda client: text(app.clients[client])),
            ("Rack", lambda client: text(_rack(application, client), UNKNOWN)),
            ("Tags", tags),
            (">Threads", lambda client: number(int(app.threads[client]))),
            *map(placed, outcomes),
        ],
        range(len(app.clients)),
        title="Clients: active tasks, and copies after a +",
    )


def _rack(application: Running, client: int) -> str | None:
    place = int(application.app.known_rack[client])
    return None if place < 0 else application.app.racks[place]


def _tasks(
    application: Running, outcomes: Sequence[PlacementOutcome], names: Sequence[str]
) -> Table:
    app, every = application.app, len(application.app.tasks)
    limit = min(every, TASKS_SHOWN) if sys.stdout.isatty() else every
    title = "Tasks: who runs them, with the partitions that are read across racks in brackets"
    if limit < every:
        title += f"; the first {limit:,} of {every:,} (--json has all)"

    def owner(one: PlacementOutcome) -> Shown:
        def told(task: int) -> str:
            client, crossing = int(one.owner[task]), int(one.crossing[task])
            if client < 0:
                return "nobody"
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
            ("Task", lambda task: app.tasks[task]),
            ("Reads", reads),
            (
                "Replicas in",
                lambda task: text(" / ".join(_racks_of(application, task)), UNKNOWN),
            ),
            ("State", lambda task: "stateful" if app.stateful[task] else NOTHING),
            ("Copies now", copies),
            *map(owner, outcomes),
        ],
        range(limit),
        title=title,
        spare=["State", "Replicas in", "Copies now", "Reads"],
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


def _remarks(
    application: Running, outcomes: Sequence[PlacementOutcome], found: Sequence[Fact]
) -> list[str]:
    """What the numbers mean, what was taken for what is not known, and what is remarkable."""

    costs = application.config.costs
    star = "*: the strategy it runs. " if application.runs else ""
    far = "reads across racks"
    if application.app.leader_rack is not None:
        far = "reads without a replica in its rack, whoever serves reads,"
    lines = [
        f"{star}Cost: {costs.traffic} for each source partition that a stateful task {far} and "
        f"{costs.non_overlap} for each such task that moves; 1 and 0 for tasks without state.",
        "Moves are from what runs now; while a copy warms up its task runs where it is furthest.",
    ]
    if application.kip_1071:
        lines.append(
            "A KIP-1071 group: the broker assigns its tasks, the other strategies are baselines for comparison."
        )
    of_placements = (remark for one in outcomes for remark in one.remarks)
    copies = about_copies(application, outcomes[1:])
    remarks = dict.fromkeys([*found, *copies, *of_placements])
    lines += [f"Not on the wire: {printable(words(each))}." for each in application.remarks]
    return lines + [f"Finding: {printable(words(each))}." for each in remarks]


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
