"""The situations of the physics oracle: what each says is true of what was simulated, and it can be checked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property

import numpy as np
import pytest

from tests.helpers.fluid import (
    EVERY,
    FIRST,
    SITUATIONS,
    Diagnosis,
    History,
    Kind,
    contradictions,
    lateness,
    simulate,
)
from tests.helpers.fluid.fork import OBJECTIVE

pytestmark = pytest.mark.slow

OVER = 6
"""Snapshots over which a rate is taken."""


@dataclass(frozen=True)
class Fact:
    """What physically is so with one group."""

    history: History
    name: str

    @cached_property
    def rows(self):
        """Its partitions."""
        return self.history.rows(self.name)

    @cached_property
    def late(self):
        """(S + 1) seconds, of its latest partition."""
        return lateness(replace(self.history, end=self.end, position=self.position)).max(axis=1)

    @cached_property
    def end(self):
        """(S + 1, P)."""
        return self.history.end[:, self.rows]

    @cached_property
    def position(self):
        """(S + 1, P)."""
        return self.history.position[:, self.rows]

    def view(self, k):
        """What its coordinator says."""
        return self.history.moments[k].views[self.history.place(self.name)]

    def capacity(self, k):
        """(M) records/s."""
        return self.history.moments[k].capacity[self.history.members(self.name)]

    def arrivals(self, k, over=OVER):
        """(P) records/s."""
        then, now = self.history.step(max(k - over, 0)), self.history.step(k)
        return (self.end[now] - self.end[then]) / (5 * (now - then))

    def read(self, k):
        """(P) records/s in the last interval."""
        consumed = self.history.consumed[:, self.rows]
        return (consumed[k] - consumed[k - 1]) / EVERY

    def load(self, k):
        """(M) records/s that arrive at what each owns."""
        owner = np.array(self.view(k).owner)
        return np.bincount(
            owner[owner >= 0], self.arrivals(k, 2)[owner >= 0], len(self.capacity(k))
        )

    def lateness(self, k):
        """Seconds that it is late."""
        return self.late[self.history.step(k)]


def _grew(fact, k, what):
    sums = getattr(fact.history, what)[:, fact.rows].sum(axis=1)
    return sums[k] > sums[k - 1]


def _slow(fact, k):
    capacity, load, owner = fact.capacity(k), fact.load(k), np.array(fact.view(k).owner)
    peers = np.minimum(capacity, np.maximum(load, 1))
    found = [
        m for m in range(len(capacity)) if load[m] > capacity[m] > 0
        and capacity[m] < 0.75 * np.median(np.delete(peers, m)) and (owner == m).any()
    ]  # fmt: skip
    return set(found)


def _skewed(fact, k):
    over = set(np.flatnonzero(fact.load(k) > fact.capacity(k)).tolist())
    return over if fact.load(k).sum() < fact.capacity(k).sum() else set()


def _hot(fact, k):
    arrivals = fact.arrivals(k, 2)
    hot = (arrivals > fact.capacity(k).max()) & (arrivals >= 2 * np.median(arrivals))
    return set(np.flatnonzero(hot).tolist()) if hot.sum() <= len(arrivals) / 4 else set()


def _hanging(fact, k):
    moment, rows = fact.history.moments[k], fact.history.rows(fact.name)
    return set(np.flatnonzero(np.isfinite(moment.stable[rows])).tolist())


TRUE = {
    Diagnosis.NO_MEMBERS: lambda f, k: not f.view(k).members,
    Diagnosis.GONE: lambda f, k: f.view(k) is None,
    Diagnosis.REBALANCING: lambda f, k: f.view(k).state == "PreparingRebalance",
    Diagnosis.DATA_LOSS: lambda f, k: _grew(f, k, "lost"),
    Diagnosis.OFFSETS_SKIPPED: lambda f, k: _grew(f, k, "skipped"),
    Diagnosis.NOT_COMMITTING: lambda f, k: {
        m for m in f.view(k).owner if m >= 0 and f.capacity(k)[m] == 0
    },
    Diagnosis.STUCK: lambda f, k: set(np.flatnonzero((f.read(k) == 0) & (f.arrivals(k) > 0)).tolist()),
    Diagnosis.UNASSIGNED: lambda f, k: {p for p, m in enumerate(f.view(k).owner) if m < 0},
    Diagnosis.HANGING: _hanging,
    Diagnosis.SLOW: _slow,
    Diagnosis.HOT: _hot,
    Diagnosis.UNDER_PROVISIONED: lambda f, k: f.arrivals(k, 2).sum() > f.capacity(k).sum() and not _hot(f, k),
    Diagnosis.SKEWED: lambda f, k: not _hot(f, k) and _skewed(f, k),
    Diagnosis.CATCHING_UP: lambda f, k: f.lateness(k) > OBJECTIVE
    and not _skewed(f, k) and f.load(k).sum() < f.capacity(k).sum(),
    Diagnosis.HEALTHY: lambda f, k: f.lateness(k) <= OBJECTIVE and f.view(k).members != (),
    Diagnosis.UNKNOWN: lambda f, k: k == 0
    or f.history.moments[k].unread_ends[f.history.place(f.name)]
    or f.history.moments[k].unread_commits[f.history.place(f.name)],
}  # fmt: skip
"""What physically makes a diagnosis true at a snapshot: the subjects, or just whether."""


@pytest.fixture(scope="module")
def history():
    """All situations, simulated once."""
    return simulate([each.group for each in SITUATIONS.values()], seed=7)


def test_there_are_situations_of_every_kind():
    """Each diagnosis and each kind of message is required somewhere, or at least allowed."""
    truths = {truth.diagnosis for each in SITUATIONS.values() for truth in each.truths}
    kinds = {kind for each in SITUATIONS.values() for kind in (*each.required, *each.allowed)}

    assert truths == set(Diagnosis)
    assert kinds == set(Kind)
    assert len(SITUATIONS) >= 20
    assert sum(each.healthy for each in SITUATIONS.values()) >= 10


@pytest.mark.parametrize("name", SITUATIONS)
def test_what_a_situation_says_is_true(history, name):
    """Where it must be said that a group keeps up it does, where a member is slow it is, at each snapshot."""
    situation, fact = SITUATIONS[name], Fact(history, name)
    partitions = situation.group.partitions
    for truth in situation.truths:
        kinds = {truth.diagnosis, *truth.also}
        found = {k: [TRUE[one](fact, k) for one in kinds] for k in range(truth.by, truth.until + 1)}
        wrong = [k for k, holds in found.items() if not any(holds)]
        if truth.once:
            assert len(wrong) < len(found), truth
            continue
        assert not wrong, truth
        if truth.subjects:
            wanted = {s if isinstance(s, int) else partitions.index(s) for s in truth.subjects}
            assert all(wanted in holds for holds in found.values()), truth


def _event(k, **what):
    return {"at": (FIRST + timedelta(seconds=k * EVERY + 20)).isoformat(), **what}


def _diagnosis(k, name, diagnosis, *subjects):
    return _event(k, event="diagnosis", group=name, diagnosis=diagnosis, subjects=list(subjects))


def _message(k, name, kind):
    return _event(k, event="message", group=name, kind=kind, text="")


RIGHT = [
    _diagnosis(0, "stuck-partition", "unknown"),
    _diagnosis(2, "stuck-partition", "healthy"),
    _diagnosis(24, "stuck-partition", "stuck partition", "stuck-partition.t0 5"),
    _message(25, "stuck-partition", "opened"),
    _message(25, "slow-member", "switch"),
]


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([], ["healthy", "stuck partition", "no message of kind 'opened'"]),
        ([*RIGHT, _message(30, "stuck-partition", "switch")], ["'switch' at snapshot 30"]),
        (
            [_message(12, "stuck-partition", "opened"), *RIGHT],
            ["2 messages of kind 'opened'", "before anything happened"],
        ),
        (
            [*RIGHT, _diagnosis(40, "stuck-partition", "stuck partition", "stuck-partition.t0 6")],
            ["stuck partition"],
        ),
    ],
)
def test_what_is_false_is_found(events, said):
    """A diagnosis missed or of somebody else; a message missing, early or not allowed."""
    found = contradictions(SITUATIONS["stuck-partition"], events)

    assert len(found) == len(said)
    assert all(part in line for part, line in zip(said, found, strict=True))
