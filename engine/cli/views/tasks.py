"""What `evenkeel tasks` shows of a Kafka Streams application: clients, tasks, and where each strategy puts them."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...messages.wording import words
from ...model.columns import columns_of
from ...model.formats import number
from ...model.groups import GroupSnapshot
from ...model.text import printable
from ...records import PlacementRow, row_of
from ...streams.compare import PlacementOutcome
from ...streams.live import Running
from .columns import cells, head, heads
from .tables import Table, show, tell, text

TASKS_SHOWN = 60
"""As many tasks fit a screen; elsewhere all are printed."""

NOW = "now"


def show_application(
    group: str, application: Running, outcomes: Sequence[PlacementOutcome], names: Sequence[str]
) -> None:
    """
    Print an application as it runs and under each strategy.

    Args:
        group: Its group id.
        application: It.
        outcomes: What runs now, then each strategy.
        names: A name for each client.
    """
    show(
        [
            _summary(group, application, outcomes),
            _clients(application, outcomes, names),
            _tasks(application, outcomes, names),
        ]
    )
    tell(["", *_remarks(application, outcomes)])


def client_names(group: GroupSnapshot, application: Running) -> list[str]:
    """A name for each client: its threads' client id without the thread, where no other has it; else its process id."""

    ids: list[set[str]] = [set() for _ in application.app.clients]
    for member, client in zip(group.members, application.client_of.tolist(), strict=True):
        ids[client].add(member.client_id.split("-StreamThread-")[0])
    shared = Counter(name for each in ids for name in each)
    names = []
    for each, process in zip(ids, application.app.clients, strict=True):
        name = min(each) if len(each) == 1 else ""
        names.append(printable(name if name and shared[name] == 1 else process))
    return names


def _of(outcome: PlacementOutcome) -> str:
    return NOW if outcome.strategy is None else outcome.strategy.value


def _summary(group: str, application: Running, outcomes: Sequence[PlacementOutcome]) -> Table:
    strategy, *measured = columns_of(PlacementRow)
    return Table(
        title=f"{printable(group)}: {len(application.app.tasks):,} tasks on {len(application.app.clients):,} clients",
        headings=[
            head(strategy),
            ">Source partitions\nacross racks",
            ">Copies' changelogs\nacross racks",
            *heads(measured),
            "Racks",
        ],
        rows=[
            [
                text(_of(one) + " *" * _runs(application, one)),
                _share(
                    int(one.crossing.sum()), len(application.app.source), int(one.unknown.sum())
                ),
                _share(one.copies_crossing, _restored(application, one), one.copies_unknown),
                *cells(measured, row_of(_placed(application, one))),
                "-"
                if one.strategy is None
                else text(words(one.racks_off) if one.racks_off else "counted"),
            ]
            for one in outcomes
        ],
        apart=True,
        spare=["Fewest", "Most tasks on a client"],
    )


def _placed(application: Running, outcome: PlacementOutcome) -> PlacementRow:
    """What runs now has nothing to move or to warm up."""
    most, fewest = _extremes(application, outcome)
    return PlacementRow(
        strategy=_of(outcome),
        cost=None if outcome.unknown.any() else outcome.cost,
        moves=None if outcome.strategy is None else outcome.moves,
        warming=None if outcome.strategy is None else outcome.warming,
        most_tasks=most,
        fewest_tasks=fewest,
    )


def _runs(application: Running, outcome: PlacementOutcome) -> bool:
    """Whether this is of the strategy it runs."""
    return outcome.strategy is not None and outcome.strategy is application.runs


def _share(crossing: int, total: int, unknown: int) -> str:
    """`2 of 12`, and how many of them are not known."""
    if not total:
        return "-"
    if unknown == total:
        return "?"
    return f"{crossing:,} of {total - unknown:,}" + (f", {unknown:,} ?" if unknown else "")


def _restored(application: Running, outcome: PlacementOutcome) -> int:
    """How many changelog partitions the copies restore."""
    stores = np.diff(application.app.changelog_start)
    return int((stores * np.diff(outcome.copies_start)).sum())


def _extremes(application: Running, outcome: PlacementOutcome) -> tuple[int, int]:
    counts = Counter(outcome.owner[outcome.owner >= 0].tolist())
    each = [counts[client] for client in range(len(application.app.clients))]
    return max(each), min(each)


def _clients(
    application: Running, outcomes: Sequence[PlacementOutcome], names: Sequence[str]
) -> Table:
    app = application.app
    counts = [Counter(one.owner.tolist()) for one in outcomes]
    kept = [Counter(one.copies.tolist()) for one in outcomes]
    return Table(
        title="Clients: active tasks, and copies after a +",
        headings=[
            "Client",
            "Process",
            "Rack",
            "Tags",
            ">Threads",
            *(f">{_of(o)}" for o in outcomes),
        ],
        rows=[
            [
                names[client],
                text(process),
                text(_rack(application, client), "?"),
                text(", ".join(f"{k}={v}" for k, v in sorted(app.tags[client].items()))),
                number(int(app.threads[client])),
                *(
                    f"{has[client]:,}" + (f" + {copies[client]:,}" if copies[client] else "")
                    for has, copies in zip(counts, kept, strict=True)
                ),
            ]
            for client, process in enumerate(app.clients)
        ],
    )


def _rack(application: Running, client: int) -> str | None:
    place = int(application.app.client_rack[client])
    return None if place < 0 else application.app.racks[place]


def _tasks(
    application: Running, outcomes: Sequence[PlacementOutcome], names: Sequence[str]
) -> Table:
    app, every = application.app, len(application.app.tasks)
    limit = min(every, TASKS_SHOWN) if sys.stdout.isatty() else every
    title = "Tasks: who runs them, with the partitions that are read across racks in brackets"
    if limit < every:
        title += f"; the first {limit:,} of {every:,} (--json has all)"
    return Table(
        title=title,
        headings=["Task", "Reads", "Replicas in", "State", "Copies now", *map(_of, outcomes)],
        spare=["State", "Replicas in", "Copies now", "Reads"],
        rows=[
            [
                app.tasks[task],
                text(", ".join(f"{t}-{p}" for t, p in _read(application, task))),
                text(" / ".join(_racks_of(application, task)), "?"),
                "stateful" if app.stateful[task] else "-",
                text(", ".join(names[c] for c in _copies(outcomes[0], task))),
                *(_owner(one, task, names) for one in outcomes),
            ]
            for task in range(limit)
        ],
    )


def _owner(outcome: PlacementOutcome, task: int, names: Sequence[str]) -> str:
    client = int(outcome.owner[task])
    if client < 0:
        return "nobody"
    crossing, unknown = int(outcome.crossing[task]), int(outcome.unknown[task])
    mark = f" ({'?' if unknown else crossing})" if crossing or unknown else ""
    return names[client] + mark


def _read(application: Running, task: int) -> list[tuple[str, int]]:
    app = application.app
    return [
        app.partitions[p]
        for p in app.source[app.source_start[task] : app.source_start[task + 1]].tolist()
    ]


def _racks_of(application: Running, task: int) -> list[str]:
    """For each partition a task reads, the racks of its replicas."""
    app, told = application.app, []
    for p in app.source[app.source_start[task] : app.source_start[task + 1]].tolist():
        racks = app.replica_rack[app.replica_start[p] : app.replica_start[p + 1]].tolist()
        told.append(",".join(sorted({app.racks[r] if r >= 0 else "?" for r in racks})) or "?")
    return told


def _copies(outcome: PlacementOutcome, task: int) -> list[int]:
    copies: list[int] = outcome.copies[
        outcome.copies_start[task] : outcome.copies_start[task + 1]
    ].tolist()
    return copies


def _remarks(application: Running, outcomes: Sequence[PlacementOutcome]) -> list[str]:
    """What the numbers mean, what was taken for what is not known, and what is remarkable."""

    costs = application.config.costs
    star = "*: the strategy it runs. " if application.runs else ""
    lines = [
        f"{star}Cost: {costs.traffic} for each source partition that a stateful task reads across racks and "
        f"{costs.non_overlap} for each such task that moves; 1 and 0 for tasks without state.",
        "Moves are from what runs now; while a copy warms up its task runs where it is furthest.",
    ]
    if application.kip_1071:
        lines.append(
            "A KIP-1071 group: the broker assigns its tasks, the other strategies are yardsticks."
        )
    remarks = dict.fromkeys(remark for one in outcomes for remark in one.remarks)
    lines += [f"Not on the wire: {printable(words(each))}." for each in application.remarks]
    return lines + [f"Finding: {printable(words(each))}." for each in remarks]


def to_object(
    group: str, application: Running, outcomes: Sequence[PlacementOutcome], names: Sequence[str]
) -> dict[str, Any]:
    """The same for machines: clients, tasks with all placements, and a summary per strategy."""
    app = application.app
    return {
        "group": group,
        "strategy": application.runs,
        "strategy_configured": application.configured is not None,
        "said": [words(each) for each in application.remarks],
        "clients": [
            {
                "process_id": process,
                "name": names[client],
                "rack": _rack(application, client),
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
                "cost": None if one.unknown.any() else one.cost,
                "moves": one.moves,
                "warming": one.warming,
                "racks_off": one.racks_off and words(one.racks_off),
                "findings": [words(each) for each in one.placement.findings]
                if one.placement
                else [],
            }
            for one in outcomes
        ],
    }
