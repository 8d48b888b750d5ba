"""The physics oracle itself: laws without which nothing that is judged by it would mean anything."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.fluid import fork, simulate
from tests.helpers.fluid.plan import (
    Capacity,
    Commits,
    Group,
    Join,
    Leave,
    Member,
    Rebalancing,
    Reset,
    Restart,
    Stick,
    Switch,
    Topic,
    Traffic,
    Vanish,
    members,
    steady,
)

pytestmark = pytest.mark.slow


_member = st.integers(0, 2)
_moment = st.integers(-600, 1500)
_events = st.one_of(
    st.builds(Leave, at=_moment, members=st.tuples(_member), clean=st.booleans()),
    st.builds(Join, at=_moment, members=st.tuples(_member)),
    st.builds(Restart, at=_moment, member=_member, down=st.integers(5, 90), clean=st.booleans()),
    st.builds(
        Capacity, at=_moment, members=st.tuples(_member), factor=st.sampled_from([0, 0.3, 2])
    ),
    st.builds(Stick, at=_moment, partition=st.just(("t0", 1)), until=st.integers(0, 1500)),
    st.builds(Reset, at=_moment, back=st.sampled_from([None, 300, 5000])),
    st.builds(Rebalancing, at=_moment, until=st.integers(0, 1500)),
    st.builds(Switch, at=_moment, to=st.sampled_from(["range", "roundrobin", (0, 1, 2, 0, 1)])),
    st.builds(Vanish, at=_moment),
)


@st.composite
def groups(draw) -> Group:
    """Small groups to which all kinds of things happen."""
    rates = draw(st.tuples(*[st.sampled_from([0, 1, 40, 300])] * 3))
    keeps = draw(st.sampled_from([600, 3600, 10**6]))
    later = draw(st.integers(-600, 1200))
    return Group(
        name="g",
        topics=(
            Topic(name="t0", rates=rates, keeps=keeps, cut_every=draw(st.sampled_from([5, 300]))),
            Topic(name="t1", rates=(50, 50), born=1, born_at=later),
        ),
        members=tuple(
            Member(
                capacity=draw(st.sampled_from([0, 20, 150, 1000])),
                static=draw(st.booleans()),
                topics=draw(st.sampled_from([None, ("t0",)])),
                here=number != 2,
            )
            for number in range(3)
        ),
        strategy=draw(st.sampled_from(["range", "roundrobin", "sticky", "cooperative-sticky"])),
        commits=Commits(every=draw(st.sampled_from([5, 60, 305])), phase=draw(st.integers(0, 300))),
        backlog=draw(st.sampled_from([None, (1000, 0, 5, 0, 0)])),
        traffic=Traffic(bursts=((100, 60, 5),)),
        events=tuple(draw(st.lists(_events, max_size=5))),
    )


@settings(max_examples=20)
@given(group=groups())
def test_the_laws_hold_whatever_happens(group):
    """What arrived is consumed, lost, skipped or still there; offsets lie where they must; nobody reads too fast."""
    history = simulate([group], 5)

    _is_conserved(history)
    _lies_where_it_must(history)
    most = sum(2 * member.capacity for member in group.members)  # the highest factor there is
    assert (np.diff(history.consumed.sum(axis=1)) <= most * 300 + 1e-6).all()


def _is_conserved(history):
    for k in range(len(history.moments)):
        step = history.step(k)
        arrived = history.end[step] - history.end[0]
        went = history.consumed[k] + history.lost[k] + history.skipped[k] - history.rewound[k]
        assert np.allclose(arrived + history.backlog[0], went + history.backlog[step], atol=1e-6)


def _lies_where_it_must(history):
    """Log start <= position <= end; a commit is of what was read."""
    assert (history.begin <= history.end).all()
    assert (np.diff(history.begin, axis=0) >= 0).all()
    assert (history.position <= history.end + 1e-6).all()
    assert (history.position[1:] >= history.begin[1:] - 1e-6).all()
    for k, moment in enumerate(history.moments):
        position = history.position[history.step(k)]
        assert (moment.committed[moment.has_commit] <= position[moment.has_commit] + 1e-6).all()


def test_company_changes_nothing():
    """A group does the same alone and among others."""
    sick = steady(name="sick", members=members(2, 50), events=(Restart(at=400, member=0),))
    alone, among = simulate([sick], 4), simulate([steady(), sick], 4)

    rows = among.rows("sick")
    assert np.allclose(alone.position, among.position[:, rows], atol=1e-6)
    assert (alone.end == among.end[:, rows]).all()
    assert (among.end[-1, rows] != among.end[-1, among.rows("g")]).all()


def test_a_fork_shares_the_past_and_the_arrivals():
    """Both ways are one until the switch; then the one that evens out is less behind."""
    more = Traffic(wander=0, changes=((0, "t0", None, 4 / 3),))
    uneven = steady(deal=(0, 0, 0, 1), traffic=more)
    ways = fork(uneven, 2, "roundrobin", seconds=1800)
    stays, switches = ways.stays.history, ways.switches.history

    assert (stays.end == switches.end).all()
    assert (stays.position[: stays.step(2) + 1] == switches.position[: stays.step(2) + 1]).all()
    assert ways.gain(1800) > 0
    assert ways.switches.lag(1800) < ways.stays.lag(1800)
