"""A live application out of a snapshot: what it has, and what is taken for what nobody tells."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from evenkeel.engine.config import StreamsSettings
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.errors import Infeasible, InputError
from evenkeel.engine.streams.live import running
from evenkeel.engine.streams.model import LAG_UNKNOWN, RUNNING
from evenkeel.engine.streams.settings import Costs, Overlap, RackStrategy, StickyTasks, TaskConfig
from tests.helpers.facts import said
from tests.helpers.streams import process
from tests.helpers.streams_groups import Sub, Thread, live_group, on

STORE, MORE = "app-a-changelog", "app-b-changelog"
PLAIN = {"0": Sub(2)}
STATEFUL = {"1": Sub(2, [STORE])}


def _live(threads, subs=PLAIN, told=None, **more):
    return running(live_group(threads, subs, **more), told)


def _rack(live):
    """Process number -> rack of the client."""
    return [None if r == NONE else live.app.racks[r] for r in live.app.client_rack.tolist()]


def _lags(live):
    """Client -> task -> what it says of it."""
    app, start = live.app, live.app.lag_start.tolist()
    return [
        {
            app.tasks[task]: lag
            for task, lag in zip(app.lag_task[a:b].tolist(), app.lag[a:b].tolist(), strict=True)
        }
        for a, b in pairwise(start)
    ]


def _copies(live):
    start, held = live.copies_start.tolist(), live.copies.tolist()
    return [held[a:b] for a, b in pairwise(start)]


def test_a_client_is_a_process_and_its_threads_are_its_capacity():
    """Members in the broker's order, clients in Kafka's; each task is where it runs."""
    threads = [
        Thread(2, "0_3", "", rack="b"),
        Thread(1, "0_0 0_2", rack="a"),
        Thread(2, "0_1", rack="b"),
    ]
    live = _live(threads, {"0": Sub(4)})

    assert live.app.clients == (process(1), process(2))
    assert live.app.threads.tolist() == [1, 2]
    assert live.client_of.tolist() == [1, 0, 1]
    assert live.app.tasks == ("0_0", "0_1", "0_2", "0_3")
    assert live.owner.tolist() == [0, 1, 0, 1]
    assert live.thread.tolist() == [1, 2, 1, 0]
    assert live.app.previous_owner.tolist() == [0, 1, 0, 1]


def test_a_task_reads_what_was_seen():
    """All source topics of its sub-topology, each with the racks of its replicas."""
    subs = {"0": Sub(2, sources=["orders", "pay"])}
    live = _live([Thread(1, "0_0 0_1")], subs, replicas=on("pay", "ab ?"))
    app = live.app
    racks = {
        app.partitions[p]: app.replica_rack[
            app.replica_start[p] : app.replica_start[p + 1]
        ].tolist()
        for p in app.source.tolist()
    }

    assert live.task_of == {("orders", 0): 0, ("pay", 0): 0, ("orders", 1): 1, ("pay", 1): 1}
    assert racks[("pay", 0)] == [app.racks.index("a"), app.racks.index("b")]
    assert racks[("pay", 1)] == [NONE]


def test_copies_are_standbys_and_warm_ups_of_any_thread():
    """One per client, ascending; both protocols."""
    threads = [
        Thread(2, "1_0", "1_1"),
        Thread(1, "1_1", warmup="1_0"),
        Thread(3, "", "1_0"),
        Thread(3, warmup="1_1"),
    ]
    live = _live(threads, STATEFUL, kip_1071=True)

    assert live.kip_1071
    assert _copies(live) == [[0, 2], [1, 2]]


def test_threads_of_a_process_agree_on_its_rack():
    """All of them tell rack a."""
    live = _live([Thread(1, "0_0", rack="a"), Thread(1, "0_1", rack="a")])

    assert (_rack(live), said(live.remarks)) == (["a"], ())


@pytest.mark.parametrize("other", ["b", None])
def test_threads_that_disagree_leave_their_client_without_rack(other):
    """As in Kafka; it is said which client it is."""
    live = _live([Thread(1, "0_0", rack="a"), Thread(1, "0_1", rack=other)])

    assert _rack(live) == [None]
    assert said(live.remarks) == ("1 client (app-1) has threads in several racks",)


@pytest.mark.parametrize(
    ("kip_1071", "how"),
    [
        (False, "set client.rack"),
        (
            True,
            "set client.rack of Kafka Streams (the broker doesn't see consumer.client.rack), or configure",
        ),
    ],
)
def test_silent_racks_are_said_with_what_helps(kip_1071, how):
    """All processes say nothing; names are their client ids where these are their own, else the processes'."""
    threads = [Thread(1, "0_0"), Thread(2, "0_1"), Thread(2), Thread(3, client_id="app-2")]
    live = _live(threads, kip_1071=kip_1071)

    assert _rack(live) == [None, None, None]
    (line,) = said(live.remarks)
    names = f"app-1, {process(2)}, {process(3)}"
    assert line.startswith(f"3 clients ({names}) send no rack; {how}")


def test_a_rack_of_a_rule_is_known_and_not_seen():
    """Kafka has the client without rack, what crosses is measured by it; a broker that assigns looks at none anyway."""
    by_rule = Thread(2, "0_1", rack="b", columns={"rack_source": "configured"})
    live = _live([Thread(1, "0_0", rack="a"), by_rule])
    by_broker = _live([Thread(1, "0_0", rack="a"), by_rule], kip_1071=True)

    assert _rack(live) == ["a", None]
    assert [live.app.racks[rack] for rack in live.app.known_rack] == ["a", "b"]
    assert "rack of 1 client (app-2) is known only from racks of a rule" in said(live.remarks)[0]
    assert (_rack(by_broker), said(by_broker.remarks)) == (["a", "b"], ())


def test_a_rack_that_no_broker_has_is_seen_and_not_known():
    """Kafka takes it at its word; what its client reads is neither near nor far."""
    live = _live([Thread(1, "0_0", rack="us-a"), Thread(2, "0_1", rack="b")])

    assert _rack(live) == ["us-a", "b"]
    assert live.app.known_rack.tolist() == [NONE, live.app.racks.index("b")]


def test_tags_are_those_of_all_threads():
    """Each client with its own."""
    threads = [
        Thread(1, "0_0", tags={"zone": "x"}),
        Thread(1, tags={"host": "h"}),
        Thread(2, "0_1"),
    ]

    assert _live(threads).app.tags == ({"zone": "x", "host": "h"}, {})


def test_what_runs_and_what_is_kept_counts_as_caught_up():
    """Only for tasks with state; a stateless task has no lag to speak of."""
    threads = [Thread(1, "0_0 1_0", "1_1"), Thread(2, "0_1 1_1")]
    live = _live(
        threads, PLAIN | STATEFUL, told=StreamsSettings(changelogs={"0": (), "1": (STORE,)})
    )

    assert _lags(live) == [{"1_0": RUNNING, "1_1": 0}, {"1_1": RUNNING}]
    assert live.app.log_size.tolist() == [0, 0, 1000, 1000]
    assert live.app.stateful.tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    ("offset", "lag", "what"),
    [
        (400, 600, "behind the end"),
        (1000, 0, "at the end"),
        (0, 1000, "nothing of it"),
        (-1, 1000, "no sense"),
        (1001, 1000, "beyond the end: another changelog's copy, to be restored from the start"),
        (-2, 0, "ran there when it last told"),
        (-3, LAG_UNKNOWN, "not known"),
    ],
)
def test_what_a_client_without_task_has_on_disk_is_what_it_reported(offset, lag, what):
    """Against the end of the changelog now."""
    live = _live([Thread(1, "1_0 1_1"), Thread(2, offsets={"1_1": offset})], STATEFUL)

    assert _lags(live)[1] == {"1_1": lag}, what


def test_ends_that_members_tell_are_used():
    """KIP-1071: sums over all stores of a task, of the moment the offsets are of."""
    threads = [
        Thread(1, "1_0 1_1"),
        Thread(2, offsets={"1_0": 40, "1_1": 40}, ends={"1_0": 50}),
    ]
    live = _live(threads, STATEFUL, kip_1071=True)

    assert _lags(live)[1] == {"1_0": 10, "1_1": 960}


def test_running_and_kept_tasks_beat_what_was_reported():
    """A report is of the last join; what a client has now is later."""
    threads = [Thread(1, "1_0", "1_1", offsets={"1_0": 5, "1_1": -3}), Thread(2, "1_1")]

    assert _lags(_live(threads, STATEFUL))[0] == {"1_0": RUNNING, "1_1": 0}


def test_all_threads_of_a_process_report_the_same_disk():
    """What one of them leaves out another tells."""
    threads = [
        Thread(1, "1_0 1_1"),
        Thread(2, offsets={"1_0": 900}),
        Thread(2, offsets={"1_1": 800}),
    ]

    assert _lags(_live(threads, STATEFUL))[1] == {"1_0": 100, "1_1": 200}


def test_reports_of_tasks_that_are_no_more_are_left_out():
    """A directory of an earlier topology lies on the disk still, as does a stateless task's."""
    threads = [
        Thread(1, "0_0 1_0 1_1"),
        Thread(2, offsets={"1_7": 5, "5_0": 5, "0_0": 5, "1_0": 900}),
    ]
    told = StreamsSettings(changelogs={"0": (), "1": (STORE,)})
    live = _live(threads, {"0": Sub(1), **STATEFUL}, told)

    assert live.app.tasks == ("0_0", "1_0", "1_1")
    assert _lags(live)[1] == {"1_0": 100}


def test_unknown_ends_are_said():
    """An empty changelog and one whose end is not known look alike to the placement, not to the reader."""
    threads, subs = [Thread(1, "1_0 1_1")], {"1": Sub(2, [STORE, MORE])}
    known = _live(threads, subs, ends={STORE: 0, MORE: 5})
    silent = _live(threads, subs, ends={STORE: 7, MORE: [5, None]})

    assert known.app.log_size.tolist() == [5, 5]
    assert silent.app.log_size.tolist() == [12, 7]
    assert not any("known end" in line for line in said(known.remarks))
    (line,) = (line for line in said(silent.remarks) if "known end" in line)
    assert line.startswith(f"1 changelog partition ({MORE}-1) has no known end")


def test_two_members_that_run_the_same_task_contradict_each_other():
    """The snapshot was taken while it changed hands."""
    with pytest.raises(Infeasible, match="task 0_1 of app is active on two members") as problem:
        _live([Thread(1, "0_0 0_1"), Thread(2, "0_1")])
    assert "next snapshot" in (problem.value.fix or "")


def test_a_task_that_runs_nowhere_is_said():
    """Only a copy of it is left."""
    live = _live([Thread(1, "1_0"), Thread(2, standby="1_1")], STATEFUL)

    assert (live.owner.tolist(), live.thread.tolist()) == ([0, NONE], [0, NONE])
    assert "1 task (1_1) runs nowhere at the moment" in said(live.remarks)


def test_a_task_whose_partitions_are_left_out_is_said():
    """Its topic is not read by configuration; the rest of its thread is."""
    group = live_group([Thread(1, "0_0 1_0", rack="a")], {"0": Sub(1), "1": Sub(1)})
    member = group.members[0]
    some = replace(member.tasks, reads=tuple(r for r in member.tasks.reads if r[0] == "0_0"))
    live = running(replace(group, members=(replace(member, tasks=some),)))

    assert live.task_of == {("source-0", 0): 0}
    assert said(live.remarks) == ("the partitions of 1 task (1_0) are not known, and left out",)


def test_a_member_that_tells_no_process_is_named():
    """Its Streams is too old, or its data was damaged."""
    with pytest.raises(Infeasible, match="member m1 does not report its process and tasks"):
        _live([Thread(1, "0_0 0_1"), Thread(None)])


def test_a_file_of_an_older_evenkeel_does_not_tell_what_tasks_read():
    """Tasks without their partitions; guessing by order would be wrong."""
    older = {"assigned_tasks": None}
    with pytest.raises(Infeasible, match="which partitions the tasks of member m0 read"):
        _live([Thread(1, "0_0 0_1", columns=older)])


def test_an_idle_thread_of_an_older_file_does_no_harm():
    """It has no tasks, so there is nothing to know."""
    live = _live([Thread(1, "0_0 0_1"), Thread(2, columns={"assigned_tasks": None})])

    assert live.owner.tolist() == [0, 0]


def test_a_group_without_any_task_is_no_application():
    """All its threads are idle."""
    with pytest.raises(Infeasible, match="no member of app reports its tasks"):
        _live([Thread(1), Thread(2)])


@pytest.mark.parametrize(
    ("thread", "named"),
    [(Thread("p-1", "0_0"), "'p-1' is no UUID"), (Thread(1, "x_0"), "'x_0' is no task id")],
)
def test_malformed_ids_are_named(thread, named):
    """They come from the wire and are somebody's."""
    subs = {"0": Sub(1), "x": Sub(1)}
    with pytest.raises(InputError, match=named):
        _live([thread], subs)


def test_without_state_no_setting_of_copies_matters():
    """Nothing is presumed, nothing said."""
    live = _live([Thread(1, "0_0", rack="a", tags={"zone": "x"}), Thread(2, "0_1", rack="b")])

    assert (live.config, live.configured) == (TaskConfig(), None)
    assert (live.runs, said(live.remarks)) == (None, ())


def test_as_many_standbys_are_presumed_as_every_store_has():
    """Three copies of one task, one of the other: one."""
    threads = [
        Thread(1, "1_0", rack="a"),
        Thread(2, "1_1", "1_0", rack="b"),
        Thread(3, "", "1_0 1_1", rack="c"),
        Thread(4, "", "1_0", rack="a"),
    ]
    live = _live(threads, STATEFUL)

    assert live.config.num_standby_replicas == 1
    assert said(live.remarks) == (
        "num.standby.replicas is assumed to be 1, the present number of copies of every store"
        " (set it in [rules.streams])",
    )


def test_standbys_that_a_group_sets_on_the_brokers_are_not_presumed():
    """KIP-1071: its broker assigns by them; what is configured here comes first."""
    threads = [Thread(1, "1_0", rack="a"), Thread(2, "1_1", rack="b")]
    own = {"streams.num.standby.replicas": "2"}
    live = running(replace(live_group(threads, STATEFUL), settings=own))

    assert (live.config.num_standby_replicas, said(live.remarks)) == (2, ())


def test_tasks_without_state_do_not_count_for_standbys():
    """They never have a copy."""
    threads = [Thread(1, "0_0 1_0", "1_1", rack="a"), Thread(2, "0_1 1_1", "1_0", rack="b")]

    assert _live(threads, PLAIN | STATEFUL).config.num_standby_replicas == 1


def test_all_tags_are_presumed_to_keep_copies_apart():
    """Where there are copies to keep apart."""
    tagged = [
        Thread(1, "1_0", "1_1", rack="a", tags={"zone": "x"}),
        Thread(2, "1_1", "1_0", rack="b", tags={"zone": "y", "host": "h"}),
    ]
    with_copies = _live(tagged, STATEFUL)
    without = _live([replace(one, standby="") for one in tagged], STATEFUL)

    assert with_copies.config.tags == ("host", "zone")
    assert any(
        "tags is assumed to be host,zone, all tags" in line for line in said(with_copies.remarks)
    )
    assert (without.config.tags, without.config.num_standby_replicas) == ((), 0)
    assert not any("tags" in line for line in said(without.remarks))


@pytest.mark.parametrize("tags", [("zone",), ()])
def test_configured_settings_beat_what_would_be_presumed(tags):
    """Also where they say that there is none; nothing is said of them then."""
    threads = [
        Thread(1, "1_0", "1_1", rack="a", tags={"zone": "x", "host": "g"}),
        Thread(2, "1_1", "1_0", rack="b", tags={"zone": "y", "host": "h"}),
    ]
    told = StreamsSettings(
        num_standby_replicas=0,
        rack_aware_assignment_tags=tags,
        rack_aware_assignment_strategy="MIN_COST",
        rack_aware_assignment_traffic_cost=7,
        acceptable_recovery_lag=5,
        max_warmup_replicas=9,
        rack_as_tag=True,
        overlap="previous",
    )
    live = _live(threads, STATEFUL, told)

    assert live.config == TaskConfig(
        num_standby_replicas=0,
        acceptable_recovery_lag=5,
        max_warmup_replicas=9,
        tags=tags,
        rack_as_tag=True,
        strategy=RackStrategy.MIN_TRAFFIC,
        costs=Costs(traffic=7, non_overlap=1),
        overlap=Overlap.PREVIOUS,
    )
    assert live.configured is RackStrategy.MIN_TRAFFIC
    assert said(live.remarks) == ()


def test_the_sticky_assignor_is_taken_at_its_costs_only():
    """What runs is priced as that assignor would; where a broker deals, that is what it runs."""
    sticky, threads = StreamsSettings(task_assignor="sticky"), [Thread(1, "0_0 0_1", rack="a")]
    live = _live(threads, told=sticky)

    assert live.config.costs == Costs(traffic=1, non_overlap=10)
    assert live.own is StickyTasks.CLIENT
    assert _live(threads).own is None
    assert _live(threads, told=sticky, kip_1071=True).own is StickyTasks.SERVER


def test_both_costs_have_to_be_told():
    """One alone is not enough for the sticky assignor of Kafka Streams to look at racks."""
    threads = [Thread(1, "0_0 0_1", rack="a")]
    traffic, both = (
        StreamsSettings(rack_aware_assignment_traffic_cost=1),
        StreamsSettings(
            rack_aware_assignment_traffic_cost=1, rack_aware_assignment_non_overlap_cost=0
        ),
    )

    assert [_live(threads, told=told).config.costs_told for told in (None, traffic, both)] == [
        False,
        False,
        True,
    ]


def test_kip_1071_and_classic_see_the_same_application():
    """The same tasks, racks, copies and sizes; only how racks are to be told differs."""
    threads = [
        Thread(1, "0_0 1_0", "1_1", rack="a", offsets={"1_0": -2}),
        Thread(2, "0_1 1_1", "1_0", rack="b"),
    ]
    one, other = (_live(threads, PLAIN | STATEFUL, kip_1071=kip) for kip in (False, True))

    assert (one.kip_1071, other.kip_1071) == (False, True)
    for name in ("tasks", "clients", "partitions", "racks", "tags"):
        assert getattr(one.app, name) == getattr(other.app, name), name
    for name in ("stateful", "log_size", "client_rack", "lag", "changelog", "source"):
        assert getattr(one.app, name).tolist() == getattr(other.app, name).tolist(), name
    assert (said(one.remarks), _copies(one)) == (said(other.remarks), _copies(other))


def test_the_broker_lists_members_in_any_order():
    """Clients, owners and lags are the same."""
    threads = [Thread(n, f"1_{n}", offsets={f"1_{(n + 1) % 3}": 10}) for n in range(3)]
    subs = {"1": Sub(3, [STORE])}
    one, other = (_live(order, subs) for order in (threads, threads[::-1]))

    assert one.owner.tolist() == other.owner.tolist()
    assert _lags(one) == _lags(other)
    assert [2 - m for m in one.thread.tolist()] == other.thread.tolist()
