"""What would become of an application of Kafka Streams: instances, threads, racks, topics and settings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evenkeel.engine.advice.next_task_change import TaskChanges
from evenkeel.engine.config import StreamsSettings
from evenkeel.engine.model.arrays import Column
from evenkeel.engine.model.errors import InputError
from evenkeel.engine.pipeline.whatif import (
    Grows,
    HasThreads,
    Joins,
    Leaves,
    Stands,
    WithoutRack,
    answer_of_tasks,
)
from evenkeel.engine.records.pause_course import PauseSpan
from evenkeel.engine.streams.after_change import instances
from evenkeel.engine.streams.compare import outcome
from evenkeel.engine.streams.live import running
from evenkeel.engine.streams.model import RUNNING
from evenkeel.engine.streams.settings import RackStrategy, StickyTasks
from tests.helpers.facts import said
from tests.helpers.streams import process
from tests.helpers.streams_groups import Sub, Thread, given, live_group, on

STORE = "app-counts-changelog"
SUBS = {"0": Sub(4), "1": Sub(3, [STORE])}
ON = on("source-0", "a b c a") | on("source-1", "a b c") | on(STORE, "a b c")
THREE = [
    Thread(1, "0_0 1_0", "1_1", rack="a"),
    Thread(2, "0_1 1_1", "1_2", rack="b"),
    Thread(3, "0_2 0_3 1_2", "1_0", rack="c"),
]
SERVER = StickyTasks.SERVER
ONE, TWO, TRE = (process(n) for n in (1, 2, 3))
NAMES = {ONE: "app-1", TWO: "app-2", TRE: "app-3"}


def _answer(*changes, group=None, told=None, settings=None, named=(), rates=None, **more):
    group = group or live_group(THREE, SUBS, replicas=ON, **more)
    return answer_of_tasks(group, settings, changes, told or {}, NAMES, rates or {}, named)


def _first(*changes, **more):
    return _answer(*changes, **more).outcomes[0]


@pytest.mark.parametrize("strategy", [*RackStrategy, SERVER], ids=str)
def test_who_leaves_moves_as_many_tasks_as_the_next_change_said(strategy):
    """From a strategy's own placement both are the same question: of whoever leaves, and of all others."""
    kip_1071 = strategy is SERVER
    told = StreamsSettings(num_standby_replicas=1)
    group = live_group(THREE, SUBS, replicas=ON, kip_1071=kip_1071)
    application = running(group, told)
    placed = outcome(application, strategy)
    said_before = TaskChanges(group, application).of(placed)
    then = given(group, placed)
    moves = [
        len(_first(Leaves(member=one), group=then, settings=told, named=[strategy.value]).moves)
        for one in instances(group)
    ]

    assert sum(moves) / 3 == pytest.approx(said_before.leave_moves_mean)
    assert max(moves) == said_before.leave_moves_worst


def test_only_stores_that_an_instance_lacks_are_restored():
    """1_0 has a copy on the third instance, which keeps it; who takes a copy anew builds it from all its offsets."""
    gone = _first(Leaves(member=ONE), kip_1071=True, told={"num_standby_replicas": 0})
    anew = _first(Leaves(member=ONE), kip_1071=True, told={"num_standby_replicas": 1})

    assert (gone.restored, gone.has["1_0"]) == ([], [TRE])
    # both that stay have all three stores then: each lacks one
    assert (anew.has["1_0"], anew.restored) == ([TRE, TWO], [1000, 1000])


@pytest.mark.parametrize(("stay", "seconds"), [(["0_0", "0_1"], 1), (["0_0 0_1", ""], 2)])
def test_a_thread_that_takes_both_tasks_restores_their_stores_in_turn(stay, seconds):
    """Each has 1,000 records; how fast they are read is configured, else observed, else assumed, and said."""
    threads = [Thread(1, "1_0 1_1"), *(Thread(2, own) for own in stay)]
    group = live_group(threads, {"0": Sub(2), "1": Sub(2, [STORE])}, replicas={}, kip_1071=True)
    rate = StreamsSettings(restore_records_per_second=1000)
    answers = {
        said(answer.assumed)[-1]: answer.outcomes[0].restore_seconds
        for answer in (
            answer_of_tasks(group, settings, [Leaves(member=ONE)], {}, NAMES, {}, (), seen)
            for settings, seen in (
                (rate, [PauseSpan(0, 400, 600)]),
                (None, [PauseSpan(0, 400, 600)]),
                (None, [PauseSpan(0, 0, 40)]),
                (None, [PauseSpan(0, 80, 999)]),
                (None, []),
            )
        )
    }

    assert answers == {
        "a thread restores 1,000 records/s (configured)": seconds,
        "a thread restores 2,000 records/s (median observed)": seconds / 2,
        "a thread restores 25,000 records/s (at least, as observed)": seconds / 25,
        "a thread restores 12,500 records/s (at most, as observed)": seconds / 12.5,
        "a thread restores 20,000 records/s (assumed)": seconds / 20,
    }


def test_who_joins_has_the_threads_of_the_first_and_a_rack_that_is_said():
    """Without one Kafka switches racks off; with one the strategy goes by it, and moves less than without."""
    joins = Joins(member="new-1")
    nowhere, near = (
        _answer(joins, *more, named=["min_traffic"])
        for more in ([], [Stands(member="new-1", rack="a")])
    )
    [off], [counted] = nowhere.outcomes, near.outcomes
    [new] = set(counted.application.app.clients) - NAMES.keys()

    assert (off.placed.racks_off is None, counted.placed.racks_off) == (False, None)
    assert near.names[new] == "new-1"
    assert counted.application.app.threads.tolist() == [1] * 4
    assert int(counted.placed.crossing.sum()) == 0
    assert len(counted.moves) < len(off.moves)
    told = said(nowhere.assumed)
    assert any(one.startswith("new-1 joins, with the threads and tags") for one in told)
    assert "the rack of new-1 is unknown: set it with --rack" in told


def test_two_that_join_are_two():
    """They have ids of their own, and each gets tasks."""
    found = _first(Joins(member="new-1"), Joins(member="new-2"), kip_1071=True)

    assert len(found.application.app.clients) == 5
    assert sorted(count for count, _, _ in found.loads({}).values()) == [1, 1, 1, 2, 2]


@pytest.mark.parametrize(("threads", "tasks"), [(5, 5), (1, 2)])
def test_tasks_follow_threads(threads, tasks):
    """Of seven tasks five threads of seven get five; an instance that loses a thread keeps what is on its disk."""
    two = [Thread(3, "0_2 0_3", rack="c"), Thread(3, "1_2", "1_0", rack="c")]
    group = live_group([*THREE[:2], *two], SUBS, replicas=ON)
    found = _first(HasThreads(member=TRE, threads=threads), group=group, named=["none"])
    app = found.application.app
    own = slice(*app.lag_start[2:4])
    disk = dict(zip(app.lag_task[own].tolist(), app.lag[own].tolist(), strict=True))

    assert app.threads.tolist() == [1, 1, threads]
    assert found.loads({})[TRE][0] == tasks
    assert disk[app.tasks.index("1_2")] == (0 if threads == 1 else RUNNING)


def test_settings_are_what_the_strategy_goes_by():
    """A copy more of each store; a rack strategy by its setting is the one that it runs then."""
    found = _answer(
        told={"num_standby_replicas": 2, "rack_aware_assignment_strategy": "balance_subtopology"}
    )

    assert found.outcomes[0].strategy is RackStrategy.BALANCE_SUBTOPOLOGY
    assert found.outcomes[0].is_running
    assert {len(has) for task, has in found.outcomes[0].has.items() if task[0] == "1"} == {1 + 2}
    assert "num_standby_replicas=2, rack_aware_assignment_strategy=balance_subtopology" in " ".join(
        said(found.assumed)
    )


def test_a_topic_that_grows_has_a_task_for_each_partition():
    """What arrives is spread over all of them; new tasks are nobody's today, so they do not move."""
    rates = {("source-0", n): 6.0 for n in range(4)} | {("source-1", n): 1.0 for n in range(3)}
    found = _answer(Grows(topic="source-0", partitions=6), kip_1071=True, rates=rates)
    [one] = found.outcomes
    arrives = [rate for _, _, rate in one.loads(found.rates).values()]

    assert [task for task in one.has if task[0] == "0"] == [f"0_{n}" for n in range(6)]
    assert sum(arrives) == pytest.approx(27)
    assert {task for task, _, _ in one.moves} <= {"0_0", "0_1", "0_2", "0_3", "1_0", "1_1", "1_2"}


def test_a_topic_of_stores_cannot_grow():
    """Kafka Streams stops where a changelog has another number of partitions than its source."""
    with pytest.raises(InputError, match="sub-topology 1 of app keeps stores"):
        _answer(Grows(topic="source-1", partitions=6))


def test_a_strategy_of_others_is_refused():
    """Tasks are placed by the strategies of tasks alone; the broker's own is what a KIP-1071 group runs."""
    assert [one.strategy for one in _answer(kip_1071=True).outcomes] == [SERVER]
    with pytest.raises(InputError, match="no strategy 'range'"):
        _answer(named=["range"])


def test_a_store_is_lost_with_the_rack_of_all_its_copies():
    """1_0 has a copy elsewhere; of 1_1, copied inside rack a, and of 1_2 all are lost; their logs tell the bytes."""
    threads = [
        Thread(1, "0_0 1_0 1_2", rack="a"),
        Thread(2, "0_1 1_1", rack="a"),
        Thread(3, "0_2 0_3", "1_0", rack="c"),
    ]
    threads[0] = replace(threads[0], standby="1_1")
    replicas = ON | on(STORE, "ac bc a")
    group = live_group(threads, SUBS, replicas=replicas)
    log_bytes = Column(np.array([10, 200, 3000]), np.array([True, True, True]))
    group = replace(group, stores=replace(group.stores, log_bytes=log_bytes))
    ends = [WithoutRack(rack="a"), Leaves(member=ONE), Leaves(member=TWO)]
    found = _answer(*ends, group=group, told={"num_standby_replicas": 0}, named=["none"])
    [one] = found.outcomes

    assert [(fact.measure, fact.subjects, fact.after) for fact in found.lost] == [
        ("partitions_dead", ("source-0-0", "source-0-3", "source-1-0"), None),
        ("stores_lost", ("1_1", "1_2"), 2000),
        ("stores_go_on", ("1_0",), None),
        ("changelogs_dead", (f"{STORE}-2",), None),
    ]
    assert one.to_restore(one.restoring[TRE]) == (2000, 3200)
    assert one.restored == [1000, 1000]
    log_bytes = Column(log_bytes.values, np.array([True, False, True]))
    group = replace(group, stores=replace(group.stores, log_bytes=log_bytes))
    [one] = _answer(*ends, group=group, told={"num_standby_replicas": 0}, named=["none"]).outcomes
    assert one.to_restore(one.restoring[TRE]) == (2000, None)


def test_a_rack_that_is_lost_leaves_what_is_read_there_to_nobody():
    """Nothing arrives without a broker, no replica is in a rack that is gone, and who tells no rack stays."""
    threads = [*THREE[:2], Thread(3, "0_2 0_3 1_2", "1_0")]
    group = live_group(threads, SUBS, replicas=ON)
    rates = {("source-0", n): 6.0 for n in range(4)} | {("source-1", n): 1.0 for n in range(3)}
    found = _answer(WithoutRack(rack="a"), Leaves(member=ONE), group=group, rates=rates)
    [one, *_] = found.outcomes

    assert sum(rate for _, _, rate in one.loads(found.rates).values()) == 2 * 6 + 2 * 1
    assert "a" not in {
        one.application.app.racks[rack] for rack in one.application.app.replica_rack.tolist()
    }
    assert "the rack of app-3 is not known: it is assumed to stay" in said(found.assumed)


def test_what_arrives_is_unknown_where_a_partition_is():
    """Never 0."""
    found = _first(kip_1071=True, rates={})

    assert {rate for _, _, rate in found.loads({}).values()} == {None}
