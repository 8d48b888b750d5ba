"""
Live groups of Kafka Streams applications from short descriptions, on top of `tests.helpers.snapshots`.

>>> group = live_group(
...     [Thread(1, "0_0 1_0", rack="a"), Thread(2, "0_1 1_1", standby="1_0", rack="b")],
...     {"0": Sub(2), "1": Sub(2, ["app-counts-changelog"])},
... )
>>> group.places_tasks, group.members[1].tasks.standby, sorted(set(group.stores.names))
(True, ('1_0',), ['app-counts-changelog'])

The group is called `app`. Sub-topology n reads the topic `source-n`; a task of it reads the partition of its number.
Unless told otherwise every partition has 1,000 records and one replica, on racks a, b and c in turn.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from evenkeel.engine.config import StreamsSettings
from evenkeel.engine.model.arrays import NONE, Indices, Ints
from evenkeel.engine.model.cluster_snapshot import ClusterSnapshot
from evenkeel.engine.model.groups import GroupSnapshot, MemberTasks
from evenkeel.engine.streams.compare import PlacementOutcome, outcomes, presumed, reproducing
from evenkeel.engine.streams.live import Running
from evenkeel.engine.streams.settings import RackStrategy
from tests.helpers.snapshots import group, groups, make_snapshot, member, topic
from tests.helpers.streams import Sketch, process

APP = "app"
RACKS = "abc"

Replicas = Mapping[tuple[str, int], Sequence[str | None]]
"""Partition -> racks of its replicas, None for a broker without rack; nothing for unknown replicas."""


@dataclass(frozen=True)
class Thread:
    """
    A member: task ids in words; *client* is a number for `process`, a process id, or None for a member that tells none.

    *columns* are any other columns of `members`.
    """

    client: int | str | None
    active: str = ""
    standby: str = ""
    warmup: str = ""
    rack: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    offsets: Mapping[str, int] | None = None
    ends: Mapping[str, int] | None = None
    client_id: str | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Sub:
    """A sub-topology: its number of tasks, and its changelog topics; *sources* instead of `source-n`."""

    tasks: int
    changelogs: Sequence[str] = ()
    sources: Sequence[str] | None = None


def on(name: str, words: str) -> dict[tuple[str, int], list[str | None]]:
    """
    Replicas of a topic: partition p has those of the p-th word, `?` is a broker without rack.

    >>> on("t", "ab ?")
    {('t', 0): ['a', 'b'], ('t', 1): [None]}
    """
    return {
        (name, p): [None if rack == "?" else rack for rack in word]
        for p, word in enumerate(words.split())
    }


def live_snapshot(
    threads: Sequence[Thread],
    subs: Mapping[str, Sub],
    *,
    kip_1071: bool = False,
    replicas: Replicas | None = None,
    ends: Mapping[str, int | None] | None = None,
    lag: int | None = 10,
    columns: Mapping[str, Any] | None = None,
    number: int = 0,
    follower_fetching: bool | None = None,
) -> ClusterSnapshot:
    """
    A snapshot of one application.

    Args:
        threads: Its members.
        subs: Sub-topology -> its tasks and topics.
        kip_1071: Whether it is a group of the streams protocol.
        replicas: Those of partitions that are not on one rack in turn.
        ends: Topic -> end offset of each of its partitions, where it is not 1,000.
        lag: Of each source partition, None for no commits.
        columns: Any other columns of `groups`.
        number: Its place in a series.
        follower_fetching: Whether brokers let the nearest replica be read; the first one leads.
    """
    sources = {name: list(sub.sources or [f"source-{name}"]) for name, sub in subs.items()}
    sizes = {t: sub.tasks for name, sub in subs.items() for t in (*sources[name], *sub.changelogs)}
    told = {
        (name, p): [RACKS[p % len(RACKS)]] for name, size in sizes.items() for p in range(size)
    } | dict(replicas or {})
    racks = sorted({r for those in told.values() for r in those if r} | set(RACKS))
    node = {rack: broker for broker, rack in enumerate([*racks, None])}
    read = [t for name in subs for t in sources[name]]
    header = {
        "group_type": "streams" if kip_1071 else "classic",
        "assignor": None if kip_1071 else "stream",
        "protocol_type": "streams" if kip_1071 else "consumer",
        "topology": _topology(subs, sources) if kip_1071 else None,
    }
    rows = [_row(n, one, sources, read, kip_1071) for n, one in enumerate(threads)]
    return make_snapshot(
        topics=[
            topic(
                name,
                size,
                end=(ends or {}).get(name, 1000),
                replicas=[[node[r] for r in told[name, p]] for p in range(size)],
            )
            for name, size in sizes.items()
        ],
        groups=[
            group(
                APP,
                members=rows,
                lag={} if lag is None else dict.fromkeys(read, lag),
                **header | dict(columns or {}),
            )
        ],
        brokers={broker: rack for rack, broker in node.items()},
        number=number,
        follower_fetching=follower_fetching,
    )


def live_group(threads: Sequence[Thread], subs: Mapping[str, Sub], **more: Any) -> GroupSnapshot:
    """The application of `live_snapshot` as a value."""
    return groups(live_snapshot(threads, subs, **more))[0]


def live_sketch(
    one: Sketch,
    owner: Indices | Sequence[int],
    copies: tuple[Ints, Indices] | Sequence[Iterable[int]],
    *,
    kip_1071: bool = False,
) -> tuple[GroupSnapshot, StreamsSettings]:
    """
    A sketched application as a live group, and all its settings but the strategy.

    Args:
        one: Tasks, clients, racks and settings; what its clients told before plays no part.
        owner: Client of each task, NONE for nobody; tasks and clients as in its `Sketch.app`.
        copies: Task -> clients that keep a copy, ragged or as lists.
        kip_1071: Whether it is a group of the streams protocol.
    """
    app, config = one.app, one.config
    kept = _rows(*copies) if isinstance(copies, tuple) else [list(c) for c in copies]
    lines = {client.process_id: client for client in one.clients}
    threads = []
    for client, name in enumerate(app.clients):
        line = lines[name]
        active = [app.tasks[t] for t, c in enumerate(owner) if c == client and c != NONE]
        standby = [app.tasks[t] for t, those in enumerate(kept) if client in those]
        threads += [
            Thread(
                name,
                " ".join(active[n :: line.threads]),
                " ".join(standby[n :: line.threads]),
                rack=line.rack,
                tags=line.tags,
                client_id=f"client-{client}-StreamThread-{n}-consumer",
            )
            for n in range(line.threads)
        ]
    subs: dict[str, Sub] = {}
    names = {p: p[0].replace("changelog-", "app-store-") for t in one.tasks for p in t.changelogs}
    changelog = {p: (f"{name}-changelog", p[1]) for p, name in names.items()}
    for task in one.tasks:
        name = task.id.split("_")[0]
        before = subs[name].tasks if name in subs else 0
        subs[name] = Sub(
            max(before, int(task.id.split("_")[1]) + 1),
            sorted({changelog[p][0] for p in task.changelogs}),
        )
    used = [p for t in one.tasks for p in (*t.sources, *t.changelogs)]
    live = live_group(
        threads,
        subs,
        kip_1071=kip_1071,
        replicas={changelog.get(p, p): one.replicas.get(p, []) for p in used},
        ends={changelog[p][0]: t.log_size for t in one.tasks for p in t.changelogs},
    )
    return live, StreamsSettings(
        rack_aware_assignment_traffic_cost=config.costs.traffic,
        rack_aware_assignment_non_overlap_cost=config.costs.non_overlap,
        rack_aware_assignment_tags=config.tags,
        num_standby_replicas=config.num_standby_replicas,
        acceptable_recovery_lag=config.acceptable_recovery_lag,
        max_warmup_replicas=config.max_warmup_replicas,
        rack_as_tag=config.rack_as_tag,
        overlap=config.overlap.value,
        changelogs={name: tuple(sub.changelogs) for name, sub in subs.items()},
    )


def _rows(start: Ints, values: Indices) -> list[list[int]]:
    ends = start.tolist()
    return [values[a:b].tolist() for a, b in pairwise(ends)]


def _row(
    number: int,
    one: Thread,
    sources: Mapping[str, Sequence[str]],
    subscription: Sequence[str],
    kip_1071: bool,
) -> dict[str, Any]:
    active = one.active.split()
    reads = [
        (task, name, int(task.split("_")[1]))
        for task in active
        for name in sources.get(task.split("_")[0], ())
    ]
    processes = process(one.client) if isinstance(one.client, int) else one.client
    columns = {
        "client_id": one.client_id or f"app-{one.client}-StreamThread-{number}-consumer",
        "process_id": processes,
        "kind": "streams" if kip_1071 else "classic",
        "active_tasks": active,
        "standby_tasks": one.standby.split(),
        "warmup_tasks": one.warmup.split() if kip_1071 else None,
        "assigned_topics": [name for _, name, _ in reads],
        "assigned_partitions": [p for _, _, p in reads],
        "assigned_tasks": [task for task, _, _ in reads],
        "task_offsets": None if one.offsets is None else json.dumps(one.offsets),
        "task_end_offsets": None if one.ends is None else json.dumps(one.ends),
        "client_tags": json.dumps(one.tags),
    }
    return member(f"m{number}", subscription, rack=one.rack, **columns | dict(one.columns))


def _topology(subs: Mapping[str, Sub], sources: Mapping[str, Sequence[str]]) -> str:
    told = {
        name: {
            "source_topics": list(sources[name]),
            "repartition_source_topics": {},
            "repartition_sink_topics": [],
            "changelog_topics": dict.fromkeys(sub.changelogs, sub.tasks),
        }
        for name, sub in subs.items()
    }
    return json.dumps({"epoch": 1, "subtopologies": told})


def presume(live: Running) -> Running:
    """The application with the strategy it runs, by what all of them would lead to."""
    return presumed(live, outcomes(live))


def reproduced(live: Running) -> list[RackStrategy]:
    """The strategies whose answer is exactly what the application has now."""
    return list(reproducing(live, outcomes(live)))


def given(group: GroupSnapshot, placed: PlacementOutcome) -> GroupSnapshot:
    """A group once a placement of its application is in force, as a snapshot would show it."""
    app = placed.application.app
    client_of = placed.application.client_of.tolist()
    active: list[list[int]] = [[] for _ in group.members]
    standby: list[list[int]] = [[] for _ in group.members]
    for task, owner in enumerate(placed.threads.tolist()):
        if owner != NONE:
            active[owner].append(task)
    for task, clients in enumerate(_rows(placed.copies_start, placed.copies)):
        for client in clients:
            threads = [thread for thread, c in enumerate(client_of) if c == client]
            fewest = min(threads, key=lambda n: len(active[n]) + len(standby[n]))
            standby[fewest].append(task)
    reads = _rows(app.source_start, app.source)
    members = tuple(
        replace(
            one,
            tasks=MemberTasks(
                active=tuple(app.tasks[task] for task in active[n]),
                standby=tuple(app.tasks[task] for task in standby[n]),
                reads=tuple(
                    (app.tasks[task], *app.partitions[p]) for task in active[n] for p in reads[task]
                ),
                tags=one.tasks.tags if one.tasks else {},
            ),
        )
        for n, one in enumerate(group.members)
    )
    return replace(group, members=members)
