"""When retention may begin to take what is not read, and whether it does."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evenkeel.engine.metrics.history import rate, time_lag
from evenkeel.engine.metrics.past import Past
from evenkeel.engine.metrics.retention import evicted, time_to_loss
from evenkeel.engine.metrics.samples import Samples
from evenkeel.engine.model.batch import batch_of
from tests.helpers.snapshots import EVERY, group, groups, make_snapshot, topic

STEP = EVERY.total_seconds()
OFFSETS = {"begin", "end", "committed"}


def _tables(*samples):
    """Group tables, oldest first, from dicts of end, committed, begin and whatever else the rows of a topic say."""
    tables = []
    for number, sample in enumerate(samples):
        told = {name: value for name, value in sample.items() if name not in OFFSETS}
        rows = topic("t", 1, begin=sample.get("begin", 0), end=sample.get("end"), **told)
        commits = {"t": [sample.get("committed")]}
        snapshot = make_snapshot(
            number=number,
            topics=[rows],
            groups=[group("g", members=1, topics=["t"], committed=commits)],
        )
        tables.append(batch_of(groups(snapshot)))
    return tables[-1].partitions, Past(tables[-1], tables[-2::-1])


def _loss(*samples):
    table, past = _tables(*samples)
    consumption = rate(table, past, "committed", "committed_at_ms")
    production = rate(table, past, "end", "end_at_ms")
    age = time_lag(table, past, production)
    begins = rate(table, past, "begin", "begin_at_ms")
    return time_to_loss(table, begins, consumption, production, age)[0]


@pytest.mark.parametrize(
    ("situation", "old", "new", "seconds"),
    [
        (
            "100 a step gained on a commit 50 ahead",
            {"begin": 0, "end": 900, "committed": 150},
            {"begin": 100},
            STEP / 2,
        ),
        ("it stands still", {"begin": 0, "end": 900, "committed": 150}, {}, math.inf),
        (
            "upon the commit, long before retention",
            {
                "begin": 0,
                "end": 0,
                "committed": 100,
                "cleanup_policy": "delete",
                "retention_ms": 10**9,
            },
            {"begin": 90, "end": 300},
            STEP / 9,
        ),
        (
            "lost already, however fast the group reads",
            {"begin": 200, "end": 900, "committed": 100},
            {"committed": 150},
            0,
        ),
        (
            "read to its end: a quiet partition is emptied",
            {"begin": 0, "end": 900, "committed": 900},
            {"begin": 500},
            math.inf,
        ),
    ],
)
def test_time_to_loss_is_the_margin_over_the_closing_speed(situation, old, new, seconds):
    """Of the log start behind the commit; the earlier of it and of retention by age counts."""
    assert _loss(old, old | new) == pytest.approx(seconds), situation


@pytest.mark.parametrize(
    ("situation", "gained", "seconds"),
    [
        ("the commit is faster", 1005, math.inf),
        ("as fast", 1000, math.inf),
        ("half a percent slower: read at other moments", 995, math.inf),
        ("a fiftieth slower", 980, 0),
    ],
)
def test_a_commit_that_keeps_pace_with_the_log_start_is_never_reached(situation, gained, seconds):
    """Two readings a moment apart do not tell which of two equal speeds is the larger, however near they are."""
    old = {"begin": 0, "end": 5000, "committed": 1000 - gained}
    new = {"begin": 1000, "end": 5000, "committed": 1000}

    assert _loss(old, new) == seconds, situation


def test_a_limit_that_never_strikes_says_nothing_of_the_other():
    """The first snapshot: how old the records are nobody knows, and bytes are not limited."""
    limits = {"cleanup_policy": "delete", "retention_ms": 604_800_000, "retention_bytes": -1}

    assert math.isnan(_loss({"begin": 6, "end": 10, "committed": 2, **limits}))


def _kept(committed, policy="delete", retention_seconds=1000, end=300):
    """A log that gained 300 offsets in 300 s, of a topic whose records are kept for so long."""
    told = {
        "cleanup_policy": policy,
        "retention_ms": retention_seconds and 1000 * retention_seconds,
    }
    first, last = committed
    return _loss({"end": 0, "committed": first} | told, {"end": end, "committed": last} | told)


@pytest.mark.parametrize(
    ("situation", "asked", "seconds"),
    [
        ("the commit stands: its record is 200 s old", {"committed": (100, 100)}, 800),
        ("half of what comes is read, at 150 s of age", {"committed": (0, 150)}, 850 / 0.5),
        ("too old already", {"committed": (100, 100), "retention_seconds": 60}, 0),
        ("it keeps pace", {"committed": (-100, 200)}, math.inf),
        ("it is at the end", {"committed": (0, 300)}, math.inf),
        ("nothing is removed by age", {"committed": (100, 100), "policy": "compact"}, math.inf),
        ("both policies", {"committed": (100, 100), "policy": "compact,delete"}, 800),
        ("kept for ever", {"committed": (100, 100), "retention_seconds": -1}, math.inf),
        ("not known", {"committed": (100, 100), "retention_seconds": None}, math.inf),
    ],
)
def test_retention_takes_what_grows_too_old(situation, asked, seconds):
    """The log start stands still in all of them, so age alone decides; unknown leaves it to the log start."""
    assert _kept(**asked) == pytest.approx(seconds), situation


DAY = 86_400_000


@pytest.mark.parametrize(
    ("situation", "told", "seconds"),
    [
        ("it is young", {"retention_ms": DAY, "retention_bytes": -1}, 86_400 - 30),
        ("kept for ever", {"retention_ms": -1, "retention_bytes": -1}, math.inf),
        ("no limit by size is known", {"retention_ms": DAY}, STEP / 9),
        ("no limit by time is known", {"retention_bytes": -1}, STEP / 9),
    ],
)
def test_a_leap_of_the_log_start_takes_nothing_that_is_young(situation, told, seconds):
    """A segment went and the log start comes upon a commit whose record is 30 s old: only what is known decides."""
    told |= {"cleanup_policy": "delete"}
    old = {"begin": 0, "end": 0, "committed": 270}
    new = {"begin": 243, "end": 300, "committed": 270}

    assert _loss(old | told, new | told) == pytest.approx(seconds), situation


@pytest.mark.parametrize(
    ("situation", "told", "seconds"),
    [
        ("400 offsets fill it, 200 wait, one a second comes", {"retention_bytes": 40_000}, 200),
        ("what waits is more than it holds", {"retention_bytes": 10_000}, 0),
        ("time takes it sooner", {"retention_bytes": 40_000, "retention_ms": 290_000}, 90),
        ("unlimited", {"retention_bytes": -1}, math.inf),
        (
            "the size of the log is not known",
            {"retention_bytes": 40_000, "log_bytes": None},
            math.inf,
        ),
        ("nothing is deleted", {"retention_bytes": 40_000, "cleanup_policy": "compact"}, math.inf),
    ],
)
def test_retention_takes_what_grows_too_large(situation, told, seconds):
    """What is stored from the commit on, in bytes per offset of the whole log, against `retention.bytes`."""
    known = {"cleanup_policy": "delete", "retention_ms": -1, "log_bytes": 30_000} | told
    old = {"end": 0, "committed": 100} | known
    new = {"end": 300, "committed": 100} | known

    assert _loss(old, new) == pytest.approx(seconds), situation


def test_what_is_older_than_the_history_is_as_old_as_its_place_in_the_log_says():
    """A third of a log of three days lies before the commit; one that was never cut may be younger than it may get."""
    known = {"cleanup_policy": "delete", "retention_ms": 3 * DAY, "retention_bytes": -1}
    old = {"end": 2_999_700, "committed": 1_000_000}
    new = {"end": 3_000_000, "committed": 1_000_000}
    cut = {"begin": 1}

    assert _loss(old | known | cut, new | known | cut) == pytest.approx(86_400, rel=1e-3)
    assert _loss(old | known, new | known) == math.inf


def _samples(begins, commits, ends):
    """One partition of one member, oldest sample first."""
    columns = [np.array(each[::-1], float)[:, None] for each in (begins, commits, ends)]
    seconds = STEP * np.arange(len(begins), dtype=float)[::-1, None]
    begin, committed, end = columns
    owner = np.zeros(begin.shape, np.int32)
    return Samples(begin=begin, end=end, committed=committed, at=seconds, owner=owner)


END = [90_000] * 6
PUSHED = [0, 3000, 6000, 9000, 12_000, 15_000]


@pytest.mark.parametrize(
    ("situation", "begins", "commits", "is_evicted"),
    [
        ("pushed on by the log start", PUSHED, [b + 40 for b in PUSHED], True),
        ("read faster than the log is cut", PUSHED, [b + 40 + 800 * k for k, b in enumerate(PUSHED)], False),
        ("far from the log start", PUSHED, [b + 40_000 for b in PUSHED], False),
        ("cut once, and four times as fast", [0] * 5 + [9000], [1000, 2000, 3000, 4000, 5000, 9100], True),
        ("cut once, and read as fast as ever", [0] * 5 + [5500], [1000, 2000, 3000, 4000, 5000, 6000], False),
        ("nothing is committed: it would begin at the log start", PUSHED, PUSHED, False),
        ("the commit stands still", PUSHED, [100] * 6, False),
    ],
)  # fmt: skip
def test_retention_pushes_commits_on(situation, begins, commits, is_evicted):
    """A consumer whose position is gone goes on at the log start: its commit never lies below it."""
    samples = _samples(begins, commits, END)
    behind = np.ones(samples.end.shape, np.bool_)

    assert evicted(samples, behind, 3).tolist() == [is_evicted], situation


def test_who_keeps_up_with_a_log_that_is_cut_soon_loses_nothing():
    """The log is cut a minute behind its end: so is the commit, and all before it is read."""
    samples = _samples(PUSHED, [b + 40 for b in PUSHED], [b + 60 for b in PUSHED])

    assert not evicted(samples, np.zeros(samples.end.shape, np.bool_), 3).any()
