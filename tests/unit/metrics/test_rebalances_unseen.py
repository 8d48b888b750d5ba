"""Causes of rebalances where snapshots are five minutes apart, so that most of each rebalance is unseen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from random import Random

import pytest

from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.config import Settings
from evenkeel.engine.model.batch import GroupBatch
from evenkeel.engine.model.states import RebalanceCause
from evenkeel.engine.pipeline.measure import observed_of
from evenkeel.engine.snapshots.groups_with_past import BatchWithPast, read_batch
from tests.helpers.fluid.plan import Event, Group, Join, Leave, Member, Restart, at, members, topics
from tests.helpers.fluid.run import simulate
from tests.helpers.fluid.tables import snapshots
from tests.helpers.lake_snapshots import write_taken

SNAPSHOTS, LOOKBACK, BEGINS = 30, 12, 14
EACH = 4
"""Groups of each cause."""

STRATEGIES = ("range", "cooperative-sticky", "sticky")


def deploy(random: Random) -> Iterator[Event]:
    """All members restart one by one, in 1 to 20 minutes."""
    begins, pace = _moment(random, BEGINS), random.uniform(15, 300)
    for number in range(4):
        yield Restart(at=begins + pace * number, member=number, down=10)


def crash_loop(random: Random) -> Iterator[Event]:
    """A member crashes again and again, for half an hour."""
    now = _moment(random, BEGINS)
    while now < at(BEGINS + 6):
        yield Restart(at=now, member=1, down=10, clean=False)
        now += random.uniform(60, 400)


def scaler_flapping(random: Random) -> Iterator[Event]:
    """Two members join and leave again and again, for half an hour."""
    now, there = _moment(random, BEGINS), False
    while now < at(BEGINS + 6):
        yield Leave(at=now, members=(4, 5)) if there else Join(at=now, members=(4, 5))
        there, now = not there, now + random.uniform(180, 500)


def members_added(random: Random) -> Iterator[Event]:
    """Two members join for good."""
    yield Join(at=_moment(random, BEGINS), members=(4, 5))


def members_removed(random: Random) -> Iterator[Event]:
    """One leaves for good."""
    yield Leave(at=_moment(random, BEGINS), members=(3,))


def member_restarted(random: Random) -> Iterator[Event]:
    """One restarts once."""
    yield Restart(at=_moment(random, BEGINS), member=2, down=10)


def session_timeout(random: Random) -> Iterator[Event]:
    """One crashes and stays away."""
    yield Leave(at=_moment(random, BEGINS), members=(3,), clean=False)


def nothing(_: Random) -> Iterator[Event]:
    """It is left alone."""
    yield from ()


STORIES: dict[RebalanceCause | None, Callable[[Random], Iterator[Event]]] = {
    RebalanceCause.DEPLOY: deploy,
    RebalanceCause.CRASH_LOOP: crash_loop,
    RebalanceCause.SCALER_FLAPPING: scaler_flapping,
    RebalanceCause.MEMBERS_ADDED: members_added,
    RebalanceCause.MEMBERS_REMOVED: members_removed,
    RebalanceCause.MEMBER_RESTARTED: member_restarted,
    RebalanceCause.SESSION_TIMEOUT: session_timeout,
    None: nothing,
}


def _moment(random: Random, snapshot: int) -> float:
    return at(snapshot) + random.uniform(10, 290)


def _groups() -> Iterator[tuple[Group, RebalanceCause | None]]:
    random = Random(33)
    for cause, story in STORIES.items():
        for number in range(EACH):
            name = f"{story.__name__}-{number}"
            begins = Random(f"{name}")
            events = tuple(sorted(story(begins), key=lambda each: each.at))
            yield (
                Group(
                    name=name,
                    topics=topics(2, 8, random.uniform(20, 80)),
                    members=(*members(4, 600), *(Member(capacity=600, here=False),) * 2),
                    strategy=STRATEGIES[number % len(STRATEGIES)],
                    events=events,
                ),
                cause,
            )


@cache
def told() -> dict[str, list[RebalanceCause]]:
    """What is told of each group, snapshot by snapshot."""
    fleet = [group for group, _ in _groups()]
    recording = Recording()
    ids = write_taken(recording, snapshots(simulate(fleet, SNAPSHOTS, seed=33)))
    earlier: tuple[GroupBatch, ...] = ()
    found: dict[str, list[RebalanceCause]] = {group.name: [] for group in fleet}
    for snapshot_id in ids:
        batch = read_batch(recording, Settings(), snapshot_id, [*found])
        seen = observed_of(Settings(), BatchWithPast(batch=batch, earlier=earlier, withheld={}))
        for number, caused in seen.causes.newest.items():
            found[batch.headers[number].group].append(caused.cause)
        earlier = (batch, *earlier)[:LOOKBACK]
    return found


def shares() -> dict[RebalanceCause | None, Counter[RebalanceCause | None]]:
    """By true cause, what the last rebalance of each group is put down to; None for no rebalance."""
    counts: dict[RebalanceCause | None, Counter[RebalanceCause | None]] = {}
    for group, cause in _groups():
        last = told()[group.name][-1:] or [None]
        counts.setdefault(cause, Counter())[last[0]] += 1
    return counts


@pytest.mark.parametrize("cause", [cause for cause in STORIES if cause is not None])
def test_causes_are_told_right_though_most_is_unseen(cause: RebalanceCause) -> None:
    """At least three of four; a session that expires between two snapshots leaves a member that was removed."""
    seen = RebalanceCause.MEMBERS_REMOVED if cause is RebalanceCause.SESSION_TIMEOUT else cause

    assert shares()[cause][seen] >= EACH - 1


def test_groups_left_alone_have_no_rebalance() -> None:
    """From beginning to end."""
    assert [told()[f"nothing-{number}"] for number in range(EACH)] == [[]] * EACH
