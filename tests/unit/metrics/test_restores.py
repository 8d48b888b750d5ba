"""How fast threads restore stores, as far as their reports show it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from evenkeel.engine.config import Settings
from evenkeel.engine.metrics.past import Past
from evenkeel.engine.metrics.restores import AGE, restores
from evenkeel.engine.model.batch import batch_of
from evenkeel.engine.pipeline.measure import observe_group
from evenkeel.engine.records.pause_course import spans_of
from tests.helpers.streams_groups import Sub, Thread, live_group

STORE = "app-counts-changelog"
MILLION = 1_000_000
TEN = dict.fromkeys(["1_0", "1_1"], 10 * MILLION)


def _samples(*threads, every, **more):
    """One thread beside another in snapshots that are so many seconds apart, oldest first."""
    more.setdefault("kip_1071", True)
    made = [
        live_group([each, Thread(2)], {"1": Sub(2, [STORE])}, replicas={}, **more)
        for each in threads
    ]
    began = made[0].taken_at
    return [
        replace(each, taken_at=began + timedelta(seconds=every * number))
        for number, each in enumerate(made)
    ]


def _spans(*threads, every=300.0):
    """For how long it restores 1,000,000 records, at least and at most."""
    *older, now = _samples(*threads, every=every)
    past = Past(batch_of([now]), [batch_of([one]) for one in reversed(older)])
    return [(low, high) for _, low, high in restores(past, 0)]


def _active(**offsets):
    return Thread(1, "1_0 1_1", offsets={f"1_{n[1:]}": o for n, o in offsets.items()}, ends=TEN)


def test_two_reports_say_it_but_for_their_ages():
    """3,000,000 records in 300 s; each report may have been sent up to 65 s before its snapshot."""
    [(low, high)] = _spans(_active(t0=MILLION), _active(t0=4 * MILLION))

    assert (low, high) == ((300 - AGE) / 3, (300 + AGE) / 3)


def test_what_is_done_and_what_came_count_at_most():
    """Of a task that was reported before, the rest; of one that is reported now, all."""
    [(low, high)] = _spans(_active(t0=9 * MILLION, t1=0), _active(t1=4 * MILLION))
    [(less, same)] = _spans(_active(t1=0), _active(t1=4 * MILLION, t0=MILLION))

    assert (low, high) == ((300 - AGE) / 5, (300 + AGE) / 4)
    assert (less, same) == (low, high)


def test_snapshots_that_are_nearer_than_reports_say_it_together():
    """A report is younger than the snapshot before that shows another one."""
    reports = [_active(t0=0), *(_active(t0=n * MILLION) for n in (1, 1, 2, 2, 3))]

    [(low, high)] = _spans(*reports, every=30)
    # from the first report, which may be as old as can be
    assert (low, high) == ((150 - 30) / 3, (150 + AGE) / 3)
    assert _spans(*reports[:-1], every=30) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (_active(), _active(t0=MILLION)),
        (_active(t0=MILLION), _active()),
        (_active(t0=MILLION), _active(t0=MILLION)),
        (_active(t0=4 * MILLION), _active(t0=MILLION)),
        (_active(t0=MILLION), _active(t1=4 * MILLION)),
        (_active(t0=-2), _active(t0=MILLION)),
    ],
)
def test_without_progress_of_a_task_in_both_nothing_is_known(before, after):
    """It came, it is done, no report came between, it was begun anew, or it runs."""
    assert _spans(before, after) == []


@pytest.mark.parametrize("role", ["standby", "warmup"])
def test_a_copy_counts_while_it_is_built(role):
    """One that is caught up reads what arrives, and no faster."""

    def copy(offset, end):
        return Thread(1, **{role: "1_0"}, offsets={"1_0": offset}, ends=end)

    unknown = {"1_0": (1 << 63) - 1}
    assert len(_spans(copy(0, TEN), copy(3 * MILLION, TEN))) == 1
    assert _spans(copy(6 * MILLION, TEN), copy(10 * MILLION - 100, TEN)) == []
    assert _spans(copy(0, unknown), copy(3 * MILLION, unknown)) == []
    assert _spans(copy(0, None), copy(3 * MILLION, None)) == []


def test_what_lies_on_the_disk_of_another_is_not_restored():
    """A task that it no longer has."""
    disk = [Thread(1, "1_1", offsets={"1_0": offset}, ends=TEN) for offset in (0, MILLION)]

    assert _spans(*disk) == []


def test_metrics_keep_it_of_groups_whose_broker_tells():
    """A classic group reports when a thread joins, and not while it restores."""
    for kip_1071 in (True, False):
        threads = (_active(t0=0), _active(t0=MILLION))
        earlier, now = _samples(*threads, every=300, kip_1071=kip_1071)
        course = observe_group(Settings(), now, [earlier]).pauses[0]
        kept = [] if course is None else spans_of(course.restores)

        assert [(low, high) for _, low, high in kept] == [(235, 365)] * kip_1071
