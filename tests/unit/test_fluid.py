"""The physics oracle itself: what its laws say, and that its snapshots are ones the engine can read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.adapters.recording import open_recording
from evenkeel.engine.model.arrays import NONE
from tests.helpers.fluid import fork, lateness, record, simulate
from tests.helpers.fluid.plan import (
    EVERY,
    STEP,
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
from tests.helpers.fluid.world import shared

pytestmark = pytest.mark.slow


def read(history, k):
    """(P) records read from snapshot k on to the next, per second."""
    return (history.consumed[k + 1] - history.consumed[k]) / 300


# Laws, on whatever may happen

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


@given(
    wanted=st.lists(st.integers(0, 50), min_size=1, max_size=12),
    budget=st.lists(st.integers(0, 100), min_size=1, max_size=3),
)
def test_shares_are_max_min_fair(wanted, budget):
    """All is read that can be; who gets less than it wants gets as much as anybody else of the same member."""
    needs, budgets = np.array(wanted, float), np.array(budget, float)
    owner = np.arange(len(needs)) % (len(budgets) + 1) - 1
    needs[owner == NONE] = 0

    taken = shared(needs, owner, budgets)

    assert (taken <= needs).all()
    for member, most in enumerate(budgets):
        own = owner == member
        assert taken[own].sum() == pytest.approx(min(needs[own].sum(), most))
        short = taken[own] < needs[own] - 1e-9
        if short.any():
            assert np.allclose(taken[own][short], taken[own].max(initial=0))


# What single things do, in numbers that can be checked by hand


@pytest.mark.parametrize(("every", "ages"), [(60, {50}), (300, {290}), (70, set(range(0, 70, 10)))])
def test_commits_are_locked_to_snapshots_or_drift(every, ages):
    """A commit every 60 s at second 10 is 50 s old at every snapshot, one every 300 s 290 s; one every 70 s differs."""
    history = simulate([steady(commits=Commits(every=every, phase=10))], 30)

    found = set()
    for k, moment in enumerate(history.moments):
        step = history.step(k)
        path = history.position[: step + 1, 0]
        found.add(STEP * (step - int(np.searchsorted(path, moment.committed[0]))))
    assert found == ages


def test_a_clean_leaver_loses_nothing_and_a_crash_is_read_again():
    """After a crash the group stands still where the member was for 45 s, then goes back to its last commit."""
    commits = Commits(every=300, phase=0)
    clean, crash = (
        simulate([steady(commits=commits, events=(Leave(at=100, members=(1,), clean=c),))], 3)
        for c in (True, False)
    )

    assert not clean.rewound.any()
    assert crash.rewound[-1] == pytest.approx([0, 0, 3000, 3000], rel=0.1)
    assert set(clean.moments[1].views[0].owner) == {0}


def test_an_eager_rebalance_stops_everybody_and_a_cooperative_one_does_not():
    """When a third member joins, those who keep their partitions read on under the cooperative strategy."""
    third = (*members(2, 100), Member(capacity=100, here=False))
    stopped = {}
    for strategy in ("range", "cooperative-sticky"):
        joins = steady(
            members=third, strategy=strategy, pause=60, events=(Join(at=0, members=(2,)),)
        )
        history = simulate([joins], 3)
        step = history.step(0)
        stopped[strategy] = (history.position[step + 12] == history.position[step + 1]).sum()
        assert set(history.moments[1].views[0].owner) == {0, 1, 2}

    assert stopped == {"range": 4, "cooperative-sticky": 0}


def test_a_stuck_partition_stands_still_alone():
    """Its neighbors get what it leaves."""
    history = simulate([steady(events=(Stick(at=0, partition=("t0", 1)),))], 3)

    assert read(history, 1) == pytest.approx([30, 0, 30, 30], rel=0.1)


def test_retention_takes_what_is_not_read():
    """Of a group without members that is an hour behind, everything older than ten minutes is lost."""
    alone = steady(
        topics=(Topic(name="t0", rates=(30,) * 4, keeps=600, cut_every=5),),
        events=(Leave(at=-3600, members=(0, 1)),),
    )
    history = simulate([alone], 2)

    assert history.lost[0] == pytest.approx([30 * 3000] * 4, rel=0.05)
    assert history.backlog[history.step(0)] == pytest.approx([30 * 600] * 4, rel=0.05)


def test_lateness_is_the_age_of_the_oldest_unread_record():
    """Whoever stopped 100 s ago is 100 s late."""
    history = simulate([steady(events=(Leave(at=200, members=(0, 1)),))], 2)

    assert lateness(history)[history.step(1)] == pytest.approx([100] * 4, abs=5)


# The same seed, company, and forks


def test_a_seed_decides_everything(tmp_path):
    """The same groups give the same recording, another seed others."""
    for name, seed in (("first", 1), ("again", 1), ("other", 2)):
        record(tmp_path / name, simulate([steady(traffic=Traffic())], 3, seed))
    history, other = (open_recording(tmp_path / n) for n in ("first", "again"))
    third = open_recording(tmp_path / "other")

    ids = history.snapshot_ids
    assert history.read("partitions", ids).equals(other.read("partitions", ids))
    assert history.read("commits", ids).equals(other.read("commits", ids))
    assert not history.read("commits", ids).equals(third.read("commits", ids))


def test_company_changes_nothing():
    """A group does the same alone and among others."""
    sick = steady(name="sick", members=members(2, 50), events=(Restart(at=400, member=0),))
    alone, among = simulate([sick], 4), simulate([steady(), sick], 4)

    rows = among.rows("sick")
    assert np.allclose(alone.position, among.position[:, rows], atol=1e-6)
    assert (alone.end == among.end[:, rows]).all()
    assert (among.end[-1, rows] != among.end[-1, among.rows("g")]).all()


def test_a_fork_shares_the_past_and_the_arrivals():
    """Both ways are one until the switch; then the one that evens out drains, the other never does."""
    more = Traffic(wander=0, changes=((0, "t0", None, 4 / 3),))
    uneven = steady(deal=(0, 0, 0, 1), traffic=more)
    ways = fork(uneven, 2, "roundrobin", seconds=1800)
    stays, switches = ways.stays.history, ways.switches.history

    assert (stays.end == switches.end).all()
    assert (stays.position[: stays.step(2) + 1] == switches.position[: stays.step(2) + 1]).all()
    assert ways.stays.drained_after() is None
    assert 0 < ways.switches.drained_after() < 1800
    assert ways.gain(1800) > 0
    assert ways.switches.lag(1800) < ways.stays.lag(1800)


def test_counted_records_arrive_in_their_interval():
    """As many as were counted in each, whatever the rate."""
    counts = tuple(range(26)), tuple(range(0, 2600, 100))
    topic = Topic(name="t0", rates=(3.0, 3.0), counts=counts)

    history = simulate([steady(topics=(topic,))], snapshots=2)

    arrived = np.diff(history.end[:: EVERY // STEP], axis=0)
    assert arrived.T.tolist() == [list(each[:25]) for each in counts]
