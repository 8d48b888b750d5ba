"""An application after a change is the one behind the group as a snapshot would show it then."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from evenkeel.engine.config import StreamsSettings
from evenkeel.engine.streams.after_change import come, gone, joined, pinned, settled, without
from evenkeel.engine.streams.compare import outcome
from evenkeel.engine.streams.live import known_tasks, running
from evenkeel.engine.streams.model import RUNNING
from evenkeel.engine.streams.settings import RackStrategy, StickyTasks
from tests.helpers.streams_groups import Sub, Thread, given, live_group

STORE = "app-counts-changelog"
SUBS = {"0": Sub(5), "1": Sub(4, [STORE])}
THREADS = [
    Thread(2, "0_0 1_0", "1_1", rack="b", tags={"zone": "x"}),
    Thread(1, "0_1 1_1", "1_2", rack="a", tags={"zone": "y"}),
    Thread(2, "0_2", rack="b", tags={"zone": "x"}),
    Thread(3, "0_3 0_4 1_2 1_3", "1_0 1_3", rack="c", offsets={"1_1": 400}),
]


@pytest.fixture(params=[*RackStrategy, *StickyTasks], ids=str)
def placed(request):
    """The group and what a strategy would give it."""
    assignor = "sticky" if request.param is StickyTasks.CLIENT else "high-availability"
    told = StreamsSettings(num_standby_replicas=1, task_assignor=assignor)
    group = live_group(THREADS, SUBS, kip_1071=request.param is StickyTasks.SERVER)
    return group, outcome(running(group, told), request.param)


def _seen(group, start):
    """The application that a snapshot of a later group shows, with the tasks and settings of the one at the start."""
    told = pinned(None, start.application)
    return running(group, told, known_tasks(live_group(THREADS, SUBS)))


def _told(application):
    """All that strategies go by: racks by name, what clients and threads have in any order."""
    app, members = application.app, application.members
    rows = {
        name: np.split(getattr(app, name), getattr(app, start)[1:-1])
        for name, start in {
            "lag_task": "lag_start",
            "lag": "lag_start",
            "active_task": "active_start",
            "standby_task": "standby_start",
        }.items()
    }
    names = ("tasks", "clients", "threads", "client_rack", "known_rack", "tags")
    return {
        **{name: list(getattr(app, name)) for name in names},
        "lags": [
            dict(zip(tasks.tolist(), lags.tolist(), strict=True))
            for tasks, lags in zip(rows["lag_task"], rows["lag"], strict=True)
        ],
        "active": [sorted(tasks.tolist()) for tasks in rows["active_task"]],
        "standby": [sorted(tasks.tolist()) for tasks in rows["standby_task"]],
        **{
            name: getattr(application, name).tolist()
            for name in ("owner", "thread", "client_of", "copies_start", "copies")
        },
        **{
            f"of {field.name}": list(getattr(members, field.name))
            for field in fields(members)
            if field.name != "offsets"  # what is on a disk is among the lags
        },
    }


def test_what_is_in_force_is_what_a_snapshot_shows(placed):
    """Every task and copy is where the strategy put it, and nothing else lies on a disk."""
    group, start = placed
    then = settled(start)

    assert _told(then) == _told(_seen(given(group, start), start))
    assert then.owner.tolist() == start.owner.tolist()


@pytest.mark.parametrize("client", [0, 1, 2])
def test_who_leaves_takes_its_threads_and_tasks_along(placed, client):
    """What it ran runs nowhere, and its copies are gone."""
    group, start = placed
    process = start.application.app.clients[client]
    fewer = without(given(group, start), process)

    assert _told(gone(settled(start), client)) == _told(_seen(fewer, start))


def test_who_joins_is_like_another_and_has_nothing(placed):
    """As many threads in the same rack with the same tags."""
    group, start = placed
    then = given(group, start)
    process = then.members[0].process_id
    like = [member for member in then.members if member.process_id == process]
    now = settled(start)
    more = come(now, now, now.app.clients.index(process))

    assert _told(more) == _told(_seen(joined(then, like, ""), start))


def test_who_is_back_has_its_stores_on_disk(placed):
    """It runs nothing yet, under new member ids, and what it had is still there."""
    group, start = placed
    then, now = given(group, start), settled(start)
    process = then.members[0].process_id
    client = now.app.clients.index(process)
    back = come(gone(now, client), now, client, back=True)
    own = [member for member in then.members if member.process_id == process]
    had = {task for one in own for task in (*one.tasks.active, *one.tasks.standby)}
    idle = {"active": (), "standby": (), "reads": (), "offsets": dict.fromkeys(had, RUNNING)}
    ids = back.members.ids[-len(own) :]
    again = [
        replace(one, id=name, tasks=replace(one.tasks, **idle))
        for one, name in zip(own, ids, strict=True)
    ]
    rest = without(then, process)

    assert not set(ids) & {member.id for member in then.members}
    assert _told(back) == _told(_seen(replace(rest, members=(*rest.members, *again)), start))
