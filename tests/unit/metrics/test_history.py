"""The past: rates and time lag, who an earlier member is, and what samples say of commits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evenkeel.engine.metrics.history import rate, time_lag
from evenkeel.engine.metrics.past import Past, Recognized
from evenkeel.engine.metrics.samples import Samples
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.batch import batch_of
from evenkeel.engine.model.states import TimeLagBasis
from tests.helpers.snapshots import EVERY, change, group, groups, make_snapshot, member, topic

STEP = EVERY.total_seconds()


def _tables(*samples, topic_id=None):
    """Group tables, oldest first, from dicts of end, committed and begin."""
    tables = []
    for number, sample in enumerate(samples):
        ids = {"topic_id": sample["id"]} if "id" in sample else {}
        snapshot = make_snapshot(
            number=number,
            topics=[topic("t", 1, begin=sample.get("begin", 0), end=sample.get("end"), **ids)],
            groups=[
                group("g", members=1, topics=["t"], committed={"t": [sample.get("committed")]})
            ],
        )
        tables.append(batch_of(groups(snapshot)))
    return tables[-1].partitions, Past(tables[-1], tables[-2::-1])


def _rate(what, *samples):
    table, past = _tables(*samples)
    read_at = "committed_at_ms" if what == "committed" else "end_at_ms"
    value = rate(table, past, what, read_at).per_second[0]
    return None if math.isnan(value) else value


@pytest.mark.parametrize(
    ("situation", "what", "samples", "expected"),
    [
        ("one snapshot", "end", [{"end": 100}], None),
        ("from the oldest on", "end", [{"end": 0}, {"end": 500}, {"end": 600}], 300 / STEP),
        ("quiet is not unknown", "end", [{"end": 7}, {"end": 7}], 0),
        ("an unknown end between", "end", [{"end": 0}, {"end": None}, {"end": 600}], 300 / STEP),
        ("recreated", "end", [{"end": 0, "id": "old"}, {"end": 50, "id": "new"}], None),
        (
            "what was before a rewind does not count",
            "committed",
            [{"end": 900, "committed": c} for c in (800, 100, 400)],
            300 / STEP,
        ),
    ],
)
def test_a_rate_is_the_growth_over_the_whole_history(situation, what, samples, expected):
    """Of known samples of one topic id, since the number last fell."""
    assert _rate(what, *samples) == (expected and pytest.approx(expected)), situation


def _age(*samples):
    table, past = _tables(*samples)
    found = time_lag(table, past, rate(table, past, "end", "end_at_ms"))
    return found.seconds[0], found.basis[0]


@pytest.mark.parametrize(
    ("situation", "samples", "steps", "basis"),
    [
        ("at the end", [{"end": 100, "committed": 100}], 0, TimeLagBasis.CAUGHT_UP),
        (
            "half way between two known ends",
            [{"end": 0}, {"end": 100}, {"end": 200, "committed": 150}],
            0.5,
            TimeLagBasis.INTERPOLATED,
        ),
        (
            "50 below the oldest end, at 100 offsets a step",
            [{"end": 100}, {"end": 200, "committed": 50}],
            1.5,
            TimeLagBasis.EXTRAPOLATED,
        ),
        (
            "far before the history: at least two spans of it",
            [{"end": 10_000}, {"end": 10_100, "committed": 1}],
            2,
            TimeLagBasis.AT_LEAST,
        ),
    ],
)
def test_time_lag_is_the_age_of_the_commit(situation, samples, steps, basis):
    """In steps between snapshots, with how it is known."""
    assert _age(*samples) == (pytest.approx(steps * STEP), basis), situation


def test_time_lag_is_unknown_without_history_or_traffic():
    """One snapshot with lag, or a lag without any production, has no known age."""
    single, _ = _age({"end": 100, "committed": 50})
    still, basis = _age({"end": 100}, {"end": 100, "committed": 50})

    assert math.isnan(single)
    assert math.isnan(still)
    assert basis is TimeLagBasis.UNKNOWN


def test_history_finds_a_partition_whatever_else_the_group_held_before():
    """Rows are matched by topic and number, not by position."""
    topics = [topic("a", 2, end=10), topic("b", 1, end=20)]
    before = make_snapshot(
        topics=topics, groups=[group("g", members=1, topics=["a", "b"], committed={"a": 5, "b": 5})]
    )
    after = make_snapshot(
        number=1, topics=topics, groups=[group("g", members=1, committed={"b": 9})]
    )
    gone = change(after, "commits", lambda rows: [r for r in rows if r["topic"] == "b"])
    past = Past(batch_of(groups(gone)), [batch_of(groups(before))])

    assert past.column("committed", 0).tolist() == [5]


def test_the_samples_of_groups_may_come_from_different_snapshots():
    """Where one group could not be read in between, its sample is an older one than the other's."""

    def batch(number, end, error=None):
        own = [group(name, members=1, committed={"t": [end, end]}) for name in ("a", "b")]
        snapshot = make_snapshot(number=number, topics=[topic("t", 2, end=end)], groups=own)
        torn = change(
            snapshot,
            "groups",
            lambda rows: [
                row | {"error": error if row["group_id"] == "a" else None} for row in rows
            ],
        )
        return batch_of(groups(torn))

    now, newer, oldest = batch(2, 30), batch(1, 20, error="it could not be read"), batch(0, 10)
    past = Past(now, [newer, oldest])

    assert past.column("committed", 0).tolist() == [10, 10, 20, 20]
    assert past.column("committed", 1).tolist() == [None, None, 10, 10]
    assert past.column("end", 0).tolist() == [10, 10, 20, 20]


def _members(*ids):
    """Members of one group; an id begins with its client's."""
    made = [member(each, ["t"], {}, client_id=each[0]) for each in ids]
    snapshot = make_snapshot(topics=[topic("t", 1)], groups=[group("g", members=made)])
    return batch_of(groups(snapshot)).members


def _among(now, then, known=True):
    """For each earlier member the present one's id, None for one who is gone."""
    earlier = _members(*then)
    found = Recognized(_members(*now)).among(earlier, np.full(len(then), 0 if known else NONE))
    return [None if at == NONE else now[at] for at in found.tolist()]


def test_members_are_recognized_wherever_they_are_listed():
    """One that left moves all others up in the list; another order is the same."""
    assert _among(["b-1", "c-1"], ["a-1", "b-1", "c-1"]) == [None, "b-1", "c-1"]
    assert _among(["b-1", "a-1"], ["a-1", "b-1"]) == ["a-1", "b-1"]


def test_a_restarted_member_is_recognized_unless_another_may_be_meant():
    """By client and host; who shares them is told by the id alone, now and then."""
    assert _among(["a-2", "b-1"], ["b-1", "a-1"]) == ["b-1", "a-2"]
    assert _among(["a-1", "a-2"], ["a-3", "a-1"]) == [None, "a-1"]
    assert _among(["a-1"], ["a-3", "a-2"]) == [None, None]


def test_members_of_a_group_that_is_gone_are_nobody():
    """Whatever their ids are."""
    assert _among(["a-1"], ["a-1"], known=False) == [None]


def _samples(every: float, *committed: list[float]) -> Samples:
    """Two partitions of one member, newest sample first; nothing is ever all read."""
    commits = np.array(committed)
    seconds = -every * np.arange(len(commits), dtype=float)
    return Samples(
        begin=np.zeros_like(commits),
        end=np.full_like(commits, 1000.0),
        committed=commits,
        at=np.repeat(seconds[:, None], 2, axis=1),
        owner=np.zeros(commits.shape, np.int32),
    )


@pytest.mark.parametrize(("every", "stands"), [(300, True), (30, True), (10, True), (9, False)])
def test_a_commit_stands_still_only_after_a_while(every: float, stands: bool) -> None:
    """A few snapshots seconds apart see too little: the next commit may just be due."""
    seen = _samples(every, [7, 9], [7, 8], [7, 7], [7, 6])

    assert seen.stands.tolist() == [stands, False]


def test_a_group_may_commit_more_rarely_than_it_is_looked_at() -> None:
    """Two intervals without a commit say nothing yet; one does of a partition that always moved before."""
    assert _samples(300, [7, 9], [7, 9], [7, 8]).stands.tolist() == [False, False]
    assert _samples(300, [7, 9], [7, 9], [6, 8], [5, 8], [4, 8]).stands.tolist() == [True, False]


def test_a_commit_of_moments_ago_goes_on() -> None:
    """It stood still since the last snapshot and moved before: five seconds ago, or five minutes, that matters."""
    assert _samples(5, [7, 9], [7, 9], [7, 7]).goes_on.tolist() == [False, True]
    assert _samples(300, [7, 9], [7, 9], [7, 7]).goes_on.tolist() == [False, False]


def test_one_snapshot_says_nothing_of_it() -> None:
    """Neither that a commit stands nor that it goes on."""
    seen = _samples(5, [7, 9])

    assert not seen.stands.any()
    assert not seen.goes_on.any()
