"""What the stores of tasks take to restore that a placement moves."""

from __future__ import annotations

import numpy as np
import pytest

from evenkeel.engine.config import StreamsSettings
from evenkeel.engine.streams.compare import outcome, present
from evenkeel.engine.streams.live import running
from evenkeel.engine.streams.restoring import remaining, restoring, shared
from evenkeel.engine.streams.settings import RackStrategy, StickyTasks
from tests.helpers.streams_groups import Sub, Thread, live_group

STORE = "app-counts-changelog"
BOTH = [Thread(1, "1_0 1_1"), Thread(2)]
"""One client runs both tasks, the other nothing."""


def _placed(
    threads=BOTH, strategy=StickyTasks.SERVER, *, end=60_000, rate=None, told=None, sub=None, **more
):
    more.setdefault("kip_1071", strategy is StickyTasks.SERVER)
    group = live_group(threads, {"1": sub or Sub(2, [STORE])}, ends={STORE: end}, **more)
    settings = StreamsSettings(**(told or {}), restore_records_per_second=rate)
    return outcome(running(group, settings), strategy)


def test_a_task_that_a_broker_moves_waits_for_all_of_its_store():
    """Brokers up to Kafka 4.4 warm no copy up: 60,000 records at 20,000/s."""
    found = restoring(_placed())

    assert found.pauses.tolist() == [False, True]
    assert (found.paused.tolist(), found.seconds.tolist()) == ([0, 60_000], [0, 3])
    assert (found.longest, found.rounds) == (3, 0)


def test_where_a_copy_is_nothing_is_restored():
    """It is caught up, as far as anybody can tell."""
    found = restoring(_placed([Thread(1, "1_0 1_1"), Thread(2, "", "1_0 1_1")]))

    assert not found.pauses.any()
    assert found.longest == 0


def test_a_broker_that_knows_how_far_a_copy_is_counts_the_rest():
    """From Kafka 4.4 on members tell it, and it tells (KAFKA-20695); a leader's word is from when a thread joined."""
    copied = {"offsets": {"1_0": 0, "1_1": 50_000}, "ends": {"1_0": 60_000, "1_1": 60_000}}
    threads = [Thread(1, "1_0 1_1"), Thread(2, "", "1_0 1_1", **copied)]

    assert restoring(_placed(threads)).longest == 0.5
    told = {"num_standby_replicas": 1}
    leader = _placed(threads, RackStrategy.NONE, told=told)
    assert remaining(leader.application)[1].tolist() == [0, 0]


def test_records_below_the_log_start_are_not_read():
    """What retention or compaction removed at the front is restored by nobody."""
    group = live_group(BOTH, {"1": Sub(2, [STORE])}, ends={STORE: 60_000}, kip_1071=True)
    begin = group.stores.begin
    begin.values[:] = 20_000

    assert remaining(running(group)).tolist() == [[0, 40_000], [0, 40_000]]


def test_a_leader_lets_a_copy_warm_up_and_moves_what_is_left():
    """The task goes on at its old client meanwhile; for the last records nobody runs it."""
    placed = _placed(BOTH, RackStrategy.NONE, end=1_200_000, rate=1000)
    found = restoring(placed)

    assert placed.warming == 1
    assert (found.pauses.any(), found.warms.tolist()) == (False, [False, True])
    assert (found.warmed[1], found.paused[1], found.seconds[1]) == (1_200_000, 10_000, 10)
    # read in 20 min, looked at every 10
    assert (found.rounds, found.settles_seconds) == (1, 1200)


@pytest.mark.parametrize(
    ("replicas", "rounds", "settles"), [(1, 3, 1800), (2, 2, 1200), (9, 1, 600)]
)
def test_few_warm_up_at_a_time(replicas, rounds, settles):
    """Six tasks of one client: three move to another, so many at each probing rebalance."""
    six = " ".join(f"1_{n}" for n in range(6))
    threads = [Thread(1, six), Thread(2)]
    told = {"max_warmup_replicas": replicas}
    found = restoring(_placed(threads, RackStrategy.NONE, told=told, sub=Sub(6, [STORE])))

    assert (int(found.warms.sum()), found.rounds, found.settles_seconds) == (3, rounds, settles)


def test_what_is_less_than_the_acceptable_lag_moves_at_once():
    """Then no copy need warm up, and the task pauses for what there is."""
    found = restoring(_placed(BOTH, RackStrategy.NONE, end=9000, rate=1000))

    assert (found.pauses.tolist(), found.warms.any()) == ([False, True], False)
    assert found.longest == 9


def test_tasks_of_a_thread_are_restored_in_turn():
    """The smaller is there first; one of another thread waits for neither, and one without records for nothing."""
    found = shared(np.array([10.0, 30.0, 20.0, 0.0]), np.array([0, 0, 1, 0]))

    assert found.tolist() == [20, 40, 20, 0]


def test_an_unknown_end_leaves_the_time_unknown():
    """Of the whole thread: nobody knows how long it reads something else."""
    found = restoring(_placed(end=None))

    assert found.pauses.tolist() == [False, True]
    assert np.isnan(found.longest)
    assert np.isnan(shared(np.array([np.nan, 5.0]), np.array([0, 0]))).all()


def test_what_runs_now_restores_nothing():
    """The present placement moves nothing."""
    found = restoring(present(_placed().application))

    assert not found.pauses.any()
    assert (found.longest, found.settles_seconds) == (0, 0)
