"""The rows of Kafka Streams applications: one per strategy, by client where threads are Kafka's affair."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from evenkeel.engine.advice import decide
from evenkeel.engine.assignors import every
from evenkeel.engine.cli.task_cases import answer_tasks
from evenkeel.engine.config import Policy, Rule, Settings, StreamsSettings
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.assignments import Verdict
from evenkeel.engine.pipeline.candidate_rows import candidate_of
from evenkeel.engine.streams.compare import outcome, present
from evenkeel.engine.streams.live import running
from evenkeel.engine.streams.settings import RackStrategy, StickyTasks
from tests.helpers.examples import examples
from tests.helpers.measuring import metric_rows, proposed
from tests.helpers.snapshots import groups
from tests.helpers.streams import Shape, sketch
from tests.helpers.streams_groups import Sub, Thread, live_group, live_sketch, live_snapshot, on

STORE = "app-counts-changelog"
SUBS = {"0": Sub(4), "1": Sub(2, [STORE])}
THREADS = [
    Thread(1, "0_0 0_1", rack="a"),
    Thread(1, "1_0", "1_1", rack="a"),
    Thread(2, "0_2 0_3", rack="b"),
    Thread(2, "1_1", "1_0", rack="b"),
]
FAR = on("source-0", "b b a a") | on("source-1", "a b")
"""What the tasks of sub-topology 0 read is with the other client, of 1 with their own."""

TASKS = [strategy.value for strategy in RackStrategy]
SERVER, CLIENT = StickyTasks.SERVER.value, StickyTasks.CLIENT.value
UNKNOWN_BY_CLIENT = (
    "partition_spread",
    "balanced",
    "largest_member_lag",
    "lag_skew",
    "drain_seconds",
    "forecast_lag_expected",
)


def _rows(threads=THREADS, subs=SUBS, *, told=None, replicas=FAR, **more):
    group = live_group(threads, subs, replicas=replicas, **more)
    settings = Settings(rules=(Rule(groups="app", streams=told),)) if told else Settings()
    return _stored(proposed(settings, group, ask_next_change=False))


@pytest.fixture(scope="module")
def usual():
    """The rows of the application as it is described above."""
    return _rows()


def _stored(rows):
    """The rows by strategy."""
    return {row["strategy"]: row for row in rows}


def _grown_rows(threads=THREADS, *, rule, subs=SUBS, grown="source-0", **more):
    """The rows of an application in one of whose topics 600 records arrived since the snapshot before."""
    earlier, now = (
        groups(
            live_snapshot(threads, subs, replicas=FAR, ends={grown: end}, number=number, **more)
        )[0]
        for number, end in enumerate([1000, 1600])
    )
    return _stored(proposed(Settings(rules=(rule,)), now, [earlier], ask_next_change=False))


LOPSIDED = [Thread(1, "0_0 0_1 0_2 1_0"), Thread(1, "", "1_1"), Thread(2, "0_3 1_1", "1_0")]
ABLE = Rule(capacity_per_second=100)


@pytest.mark.parametrize(
    ("kip_1071", "reason"),
    [(False, "which partition strategies would split"), (True, "partition strategies don't apply")],
)
def test_the_rows_come_in_order_and_strategies_for_partitions_are_infeasible(kip_1071, reason):
    """What it has, the broker's own, the three rack strategies, then those for partitions, each of which says why."""
    rows = _rows(kip_1071=kip_1071)
    others = [name for name in every() if name not in {"live", *TASKS}]

    assert list(rows) == ["live", *([SERVER] if kip_1071 else []), *TASKS, *others]
    assert [row["position"] for row in rows.values()] == list(range(len(rows)))
    for name in others:
        assert rows[name]["feasibility"] == "not applicable"
        assert reason in rows[name]["reason"]
        assert candidate_of(rows[name]).score is None


@pytest.mark.parametrize(
    ("kip_1071", "deployment", "feasible"),
    [
        (False, "setting", ["needs restart", "needs restart", "needs restart"]),
        (True, "baseline", ["not deployable here"] * 3),
    ],
)
def test_rack_strategies_are_settings_of_classic_groups_only(kip_1071, deployment, feasible):
    """A broker that assigns tasks has none of them."""
    told = None if kip_1071 else StreamsSettings(rack_aware_assignment_strategy="none")
    rows = _rows(kip_1071=kip_1071, told=told)
    if not kip_1071:
        feasible = ["available", *feasible[1:]]

    assert [rows[name]["deployment"] for name in TASKS] == [deployment] * 3
    assert [rows[name]["feasibility"] for name in TASKS] == feasible
    assert rows["live"]["feasibility"] == "available"


def test_what_hangs_on_threads_is_unknown():
    """Kafka deals a client's tasks over its threads as it likes; the current assignment is known."""
    rows = _grown_rows(rule=ABLE)

    for name in TASKS:
        told = {column: rows[name][column] for column in UNKNOWN_BY_CLIENT}
        assert told == dict.fromkeys(UNKNOWN_BY_CLIENT)
    assert all(rows["live"][column] is not None for column in UNKNOWN_BY_CLIENT)
    assert rows["live"]["largest_member_lag"] == 20
    assert all(rows[name]["unowned"] == 0 for name in ["live", *TASKS])


def test_what_the_broker_would_give_has_a_forecast():
    """Its members are known, so are their loads; the other strategies give tasks to clients and have none."""
    rows = _grown_rows(LOPSIDED, rule=ABLE, kip_1071=True)

    known = {column: rows[SERVER][column] for column in UNKNOWN_BY_CLIENT}
    assert None not in known.values()
    assert rows[SERVER]["forecast_lag_expected"] <= rows["live"]["forecast_lag_expected"]
    assert all(rows[name]["forecast_lag_expected"] is None for name in TASKS)
    # one of two instances restarts, which takes 30 s: of both, half of that. 2 records/s of four partitions wait
    # for 15 s, and so do the 20 that they are behind
    assert (rows[SERVER]["price_restarts"], rows[SERVER]["price_held_up_offsets"]) == (1, 140)
    assert rows[SERVER]["price_offset_seconds"] > 0
    assert all(rows[name]["price_restarts"] is None for name in ["live", *TASKS])


@pytest.mark.parametrize(
    ("threads", "told", "noted"),
    [
        ([Thread(1, "1_0 1_1"), Thread(2)], {"kip_1071": True}, True),
        ([Thread(1, "1_0 1_1"), Thread(2, "", "1_0 1_1")], {"kip_1071": True}, False),
        (
            [Thread(1, "1_0 1_1"), Thread(2)],
            {"told": StreamsSettings(task_assignor="sticky")},
            True,
        ),
    ],
)
def test_what_restoring_takes_is_noted(threads, told, noted):
    """The sticky assignors warm no copy up: who gets a task without one restores its stores first."""
    rows = _rows(threads, {"1": Sub(2, [STORE])}, replicas={}, ends={STORE: 60_000}, **told)
    row = rows[SERVER if "kip_1071" in told else CLIENT]
    assert row["moves"] == 1
    restored = [
        "1 task (1_1) pauses until its stores are restored, 60,000 records in at most 3 s at 20,000 records/s per"
        " thread (assumed)"
    ]
    assert row["notes"] == (restored if noted else [])


def test_a_rate_that_was_observed_counts():
    """A thread that read 6,000,000 records between two reports, which are 300 s apart but for their ages."""
    earlier, now = (
        groups(
            live_snapshot(
                [Thread(1, "1_0 1_1", offsets={"1_0": offset}), Thread(2)],
                {"1": Sub(2, [STORE])},
                replicas={},
                ends={STORE: 60_000},
                number=number,
                kip_1071=True,
            )
        )[0]
        for number, offset in enumerate([0, 6_000_000])
    )
    rows = _stored(proposed(Settings(), now, [earlier], ask_next_change=False))

    assert rows[SERVER]["notes"] == [
        "1 task (1_1) pauses until its stores are restored, 60,000 records in at most 3 s at 20,000 records/s per"
        " thread (median observed)"
    ]


def test_what_restoring_takes_is_unknown_where_the_end_of_a_changelog_is():
    """Then it is in no price, and that is said."""
    rows = _rows(
        [Thread(1, "1_0 1_1"), Thread(2)],
        {"1": Sub(2, [STORE])},
        replicas={},
        ends={STORE: None},
        kip_1071=True,
    )

    assert rows[SERVER]["notes"] == [
        "1 task (1_1) pauses until its stores are restored, for an unknown time, which is not part of the cost"
    ]


def test_a_leader_has_copies_warm_up_first():
    """How long that takes is said, with how often the group rebalances until all tasks are where they are to be."""
    rows = _rows(
        [Thread(1, "1_0 1_1"), Thread(2)],
        {"1": Sub(2, [STORE])},
        replicas={},
        ends={STORE: 30_000_000},
        told=StreamsSettings(restore_records_per_second=10_000),
    )

    assert rows["none"]["notes"] == [
        "1 task (1_1) moves after a copy warmed up, 30,000,000 records in about 50 min, 1 probing rebalance"
    ]


def test_restoring_is_in_the_price_of_what_moves():
    """A task that is restored for a minute holds up what arrives in it, and no other."""
    held = {}
    for seconds in (0.001, 60):
        rate = StreamsSettings(restore_records_per_second=1000 / seconds)
        rows = _grown_rows(
            [Thread(1, "1_0 1_1"), Thread(2)],
            subs={"1": Sub(2, [STORE])},
            rule=ABLE.model_copy(update={"streams": rate}),
            grown="source-1",
            kip_1071=True,
        )
        held[seconds] = rows[SERVER]["price_held_up_offsets"]
    # 2 records/s arrive in each partition
    assert held[60] - held[0.001] == pytest.approx(2 * 59.999)


def test_moves_are_between_processes_only(usual):
    """Each strategy's moves leave one process for the other, and are as many as are counted."""
    process = {f"m{n}": thread.client for n, thread in enumerate(THREADS)}

    assert sum(usual[name]["moves"] for name in TASKS) > 0
    for name in TASKS:
        moved = usual[name]["moved"]
        assert len(moved) == usual[name]["moves"]
        assert all(process[m["from_member"]] != process[m["to_member"]] for m in moved)
    assert (usual["live"]["moves"], usual["live"]["moved"]) == (0, [])


def test_tasks_that_only_change_threads_are_no_moves():
    """One process with all tasks on one of its threads: the other gets some, nobody else does."""
    threads = [Thread(1, "0_0 0_1 0_2 0_3", rack="a"), Thread(1, rack="a")]
    row = _rows(threads, {"0": Sub(4)}, replicas={})["none"]

    assert (row["moves"], row["moved"]) == (0, [])
    assert row["most_partitions"] == 2


def test_racks_bring_partitions_to_their_replicas(usual):
    """All four of sub-topology 0 change clients; with all racks known the shares are exact."""
    moved = [(m["topic"], m["partition"]) for m in usual["min_traffic"]["moved"]]

    assert usual["live"]["cross_rack_share"] == pytest.approx(4 / 6)
    assert usual["min_traffic"]["cross_rack_share"] == 0
    assert moved == [("source-0", p) for p in range(4)]


def test_what_is_proven_is_said(usual):
    """Of strategies that looked at racks the cost of their counts is the least; of those that did not, nothing."""
    equal = on("source-0", "ab ab ab ab") | on("source-1", "ab ab") | on(STORE, "ab ab")

    assert usual["none"]["proof"] is None
    assert usual["min_traffic"]["proof"] == (
        "exact: no placement with these counts costs less"
        " (0 source partitions cross racks, 4 of 6 tasks move)"
    )
    assert _rows(replicas=equal)["min_traffic"]["proof"] is None


def test_an_infeasible_strategy_says_what_would_help():
    """A client without rack: the two strategies are not scored, `none` is."""
    threads = [*THREADS, Thread(3)]
    rows = _rows(threads)

    for name in ("min_traffic", "balance_subtopology"):
        assert rows[name]["feasibility"] == "not applicable"
        assert rows[name]["reason"].startswith("racks have no effect: 1 client")
        assert rows[name]["how"].startswith("Set client.rack")
        assert candidate_of(rows[name]).score is None
        assert rows[name]["moved"] == []
    assert candidate_of(rows["none"]).score is not None


BY_RULE = [replace(one, columns={"rack_source": "configured"}) for one in THREADS]


def test_what_racks_of_a_rule_would_bring_is_scored_after_they_are_sent():
    """Rows are as with racks that are sent, and measured by them; what it runs is `none`, whatever is set."""
    told = StreamsSettings(rack_aware_assignment_strategy="min_traffic", num_standby_replicas=1)
    rows, sent = _rows(BY_RULE, told=told), _rows(told=told)

    for name in ("live", *TASKS):
        same = ("cross_rack_share", "moves", "moved", "proof")
        assert [rows[name][each] for each in same] == [sent[name][each] for each in same]
    assert [rows[name]["is_running"] for name in TASKS] == [True, False, False]
    assert [rows[name]["feasibility"] for name in TASKS] == [
        "available",
        "needs restart",
        "needs restart",
    ]
    assert rows["min_traffic"]["how"].startswith("Set client.rack=a on 1 of 2 instances (app-1)")
    assert rows["none"]["replay"].startswith("next rebalance")
    [off] = rows["live"]["findings"]
    assert "off for all 2 clients" in off
    assert sent["live"]["findings"] == []


def test_racks_of_brokers_that_serve_from_leaders_are_measured_alike_in_rows_and_tasks():
    """What is read across racks, now and under each strategy; what is proven is by the replicas that are weighed."""
    replicas = on("source-0", "ba ba ab ab") | on("source-1", "ab ba")
    columns = {"replicas": replicas, "follower_fetching": False}
    rows = _rows(**columns)
    live = running(live_group(THREADS, SUBS, **columns))
    placed = {"live": present(live)} | {name: outcome(live, RackStrategy(name)) for name in TASKS}

    for name, each in placed.items():
        assert rows[name]["cross_rack_share"] == pytest.approx(each.crossing.sum() / 6)
    assert rows["live"]["cross_rack_share"] > 0
    assert rows["live"]["findings"][0].startswith("67% of its partitions are read across racks")
    assert "(0 source partitions cross racks" in rows["balance_subtopology"]["proof"]


def test_lag_without_commits_stays_unknown():
    """Nothing is known of it under any strategy."""
    rows = _rows(lag=None)

    assert {rows[name]["lag_lower_bound"] for name in ["live", *TASKS]} == {None}
    assert rows["live"]["largest_member_lag"] is None
    assert rows["none"]["cross_rack_share"] is not None


@pytest.mark.parametrize(
    ("count", "words"), [(2, "1 copy warms up first"), (4, "2 copies warm up first")]
)
def test_copies_that_warm_up_are_told(count, words):
    """One client has all stores, of 50,000 offsets each; half of them have to be restored elsewhere first."""
    everything = " ".join(f"1_{p}" for p in range(count))
    rows = _rows(
        [Thread(1, everything, rack="a"), Thread(2, rack="b")],
        {"1": Sub(count, [STORE])},
        told=StreamsSettings(rack_aware_assignment_strategy="none"),
        replicas={},
        ends={STORE: 50_000},
    )

    probing = "probing rebalances follow until all tasks are in place"
    assert rows["none"]["replay"] == f"next rebalance, {words}; {probing}"
    assert rows["min_traffic"]["replay"] == f"fresh assignment, {words}; {probing}"


def test_what_is_taken_for_unknown_stands_in_the_row_of_the_present(usual):
    """Settings that nobody told, by sentence and as facts; configured, there is nothing to say."""
    live = usual["live"]

    assert [note.split(" is assumed to be")[0] for note in live["notes"]] == [
        "rack.aware.assignment.strategy",
        "num.standby.replicas",
    ]
    assert {(f["kind"], f["measure"]) for f in live["facts"]} >= {
        ("note", "strategy_taken_by_default"),
        ("note", "standbys_taken"),
    }
    told = StreamsSettings(rack_aware_assignment_strategy="none", num_standby_replicas=1)
    assert _rows(told=told)["live"]["notes"] == []


def test_tags_without_racks_are_noted_where_they_decide():
    """KIP-925's warning stands in the rows of the strategies that look at racks, and holds no advice back."""
    tagged = [replace(one, tags={"zone": f"z{one.client}"}) for one in THREADS]
    rows = _rows(tagged)

    assert rows["none"]["notes"] == []
    for name in ("min_traffic", "balance_subtopology"):
        [note] = rows[name]["notes"]
        assert note.startswith("client.rack is set but 'rack' is not among")
        assert (rows[name]["findings"], rows[name]["feasibility"]) == ([], "needs restart")


def test_the_strategy_it_runs_is_replayed_as_the_next_rebalance():
    """Another one starts afresh."""
    rows = _rows(told=StreamsSettings(rack_aware_assignment_strategy="min_traffic"))

    assert rows["min_traffic"]["replay"] == "next rebalance"
    assert rows["none"]["replay"] == rows["balance_subtopology"]["replay"] == "fresh assignment"


NEAR = [
    Thread(1, "0_2 0_3", rack="a"),
    Thread(1, "1_0", "1_1", rack="a"),
    Thread(2, "0_0 0_1", rack="b"),
    Thread(2, "1_1", "1_0", rack="b"),
]
"""What both strategies that look at racks give."""


@pytest.mark.parametrize(
    ("threads", "more", "running"),
    [
        (NEAR, {}, (False, True, True)),
        (
            NEAR,
            {"told": StreamsSettings(rack_aware_assignment_strategy="min_cost")},
            (False, True, False),
        ),
        ([Thread(1, "0_0 0_1 0_2 0_3 1_0 1_1"), Thread(2)], {}, (None, None, None)),
        (NEAR, {"kip_1071": True}, (False, False, False)),
    ],
)
def test_what_runs_is_told_by_what_it_has(threads, more, running):
    """The configured strategy, else each that gives exactly this, else nobody knows; none where brokers assign."""
    rows = _rows(threads, **more)

    assert tuple(rows[name]["is_running"] for name in TASKS) == running
    assert rows["live"]["is_running"] is rows["range"]["is_running"] is False


def test_a_kip_1071_group_is_judged_by_what_its_broker_runs():
    """Its next rebalance, by member: what hangs on threads is known, and nothing has to be set."""
    rows = _rows(LOPSIDED, kip_1071=True)
    own = rows[SERVER]

    assert (own["deployment"], own["feasibility"], own["is_running"]) == (
        "setting",
        "available",
        True,
    )
    assert (own["reason"], own["replay"]) == ("the current strategy", "next rebalance")
    assert rows["live"]["partition_spread"] == 4
    assert own["partition_spread"] == 0
    assert (own["largest_member_lag"], rows["live"]["largest_member_lag"]) == (20, 40)
    assert (own["proof"], own["unowned"]) == (None, 0)
    assert all(rows[name]["partition_spread"] is None for name in TASKS)


@pytest.mark.parametrize("seed", range(examples() // 6))
def test_what_a_broker_would_give_is_what_its_class_gives(seed):
    """The row has the members that the emulated class names for the same members and tasks."""
    chance = Random(f"broker {seed}")
    one = sketch(chance, Shape(most_tasks=8, most_clients=4))
    owner = [chance.randrange(len(one.app.clients)) for _ in one.app.tasks]
    group, told = live_sketch(one, owner, [[] for _ in one.app.tasks], kip_1071=True)
    settings = Settings(rules=(Rule(streams=told),))
    rows = _stored(proposed(settings, group, ask_next_change=False))
    asked = answer_tasks(
        {
            "strategy": SERVER,
            "clients": [],
            "tasks": [
                {"id": task.id, "partitions": [list(p) for p in task.sources]}
                | {"stateful": task.stateful}
                for task in one.tasks
            ],
            "members": [
                {
                    "id": member.id,
                    "process_id": member.process_id,
                    "previous_active": list(member.tasks.active),
                    "previous_standby": list(member.tasks.standby),
                }
                for member in group.members
            ],
            "config": {"num_standby_replicas": told.num_standby_replicas},
        }
    )
    process = {member.id: member.process_id for member in group.members}
    now = {task: m.id for m in group.members for task in m.tasks.active}
    then = {task: m for m, given in asked["members"].items() for task in given["active"]}
    expected = {
        (*map(str, p), now[task.id], then[task.id])
        for task in one.tasks
        for p in task.sources
        if process[now[task.id]] != process[then[task.id]]
    }
    moved = {
        (m["topic"], str(m["partition"]), m["from_member"], m["to_member"])
        for m in rows[SERVER]["moved"]
    }

    assert moved == expected


def test_an_application_with_the_sticky_assignor_is_judged_by_it():
    """It runs that, as configured; those of the other assignor are a rolling restart away, with racks or without."""
    lopsided = [
        Thread(1, "0_0 0_1 0_2 0_3 1_0", "1_1", rack="a"),
        Thread(2, "1_1", "1_0", rack="b"),
    ]
    rows = _rows(lopsided, told=StreamsSettings(task_assignor="sticky"))
    own, replayed = rows[CLIENT], [rows[name] for name in TASKS]

    assert list(rows)[:5] == ["live", CLIENT, *TASKS]
    assert (own["feasibility"], own["is_running"]) == ("available", True)
    assert (own["reason"], own["replay"]) == (
        "the current strategy, as configured",
        "next rebalance",
    )
    assert (own["moves"], own["partition_spread"], own["proof"]) == (2, None, None)
    assert own["notes"] == [
        "Kafka's sticky task assignor assigns standbys in a random order: clients of copies may differ, active tasks"
        " don't"
    ]
    assert {(row["feasibility"], row["is_running"]) for row in replayed} == {
        ("needs restart", False)
    }
    assert rows["min_traffic"]["reason"] == (
        "after one rolling restart that removes task.assignor.class and sets rack.aware.assignment.strategy="
        "min_traffic"
    )
    assert rows["min_traffic"]["how"].startswith(
        "Remove task.assignor.class, so that Kafka's high-availability"
    )
    assert rows["min_traffic"]["replay"].startswith("fresh assignment")
    shares = [row["cross_rack_share"] for row in replayed]
    assert shares[1] < rows["live"]["cross_rack_share"]
    assert "strategy_taken" not in {f["measure"] for f in rows["live"]["facts"]}


@pytest.mark.parametrize(
    ("told", "moves"),
    [({}, 2), ({"rack_aware_assignment_non_overlap_cost": 50}, 0)],
    ids=["its own costs", "a dear move"],
)
@pytest.mark.parametrize("assignor", [{}, {"task_assignor": "sticky"}], ids=["default", "sticky"])
def test_what_costs_are_configured_of_the_group_counts(assignor, told, moves):
    """Whichever assignor it leaves: a dear move keeps tasks where they were, cheap ones go to their data."""
    rows = _rows(
        [Thread(1, "1_0", rack="a"), Thread(2, "1_1", rack="b")],
        {"1": Sub(2, [STORE])},
        replicas=on("source-1", "b a"),
        told=StreamsSettings(num_standby_replicas=0, overlap="previous", **assignor, **told),
    )

    assert rows["min_traffic"]["moves"] == moves


@pytest.mark.parametrize("assignor", ["sticky", "high-availability"])
def test_an_application_is_advised_alike_whichever_assignor_it_has(assignor):
    """What it would save across racks with a rack strategy pays, and says what is to be done."""
    rows = _grown_rows(rule=Rule(streams=StreamsSettings(task_assignor=assignor)))
    advice = decide(
        group="app",
        candidates=[candidate_of(row) for row in rows.values()],
        partitions=6,
        policy=Policy(least_saving_records_per_day=1, moves_per_gain=1.0),
        arrives_per_second=8.0,
    )
    assert (advice.verdict, advice.strategy) == (Verdict.SWITCH, "min_traffic")
    leaves = rows["min_traffic"]["how"].startswith("Remove task.assignor.class")
    assert leaves is (assignor == "sticky")


@pytest.mark.parametrize(
    ("threads", "reason"),
    [
        ([Thread(1, "0_0", rack="a"), Thread(2, "0_0", rack="b")], "active on two members"),
        ([Thread(1, "0_0", rack="a"), Thread(None)], "member m1 does not report its process"),
        ([Thread(1, "0_0", columns={"assigned_tasks": None})], "of an older evenkeel"),
        ([Thread("p-1", "0_0")], "no UUID"),
    ],
)
@pytest.mark.parametrize("kip_1071", [False, True])
def test_an_application_that_cannot_be_understood_says_why(kip_1071, threads, reason):
    """What it has is shown all the same; no strategy is scored."""
    rows = _rows(threads, {"0": Sub(1)}, kip_1071=kip_1071, replicas={})

    assert candidate_of(rows["live"]).score is not None
    for name in [*([SERVER] if kip_1071 else []), *TASKS]:
        assert rows[name]["feasibility"] == "not applicable"
        assert reason in rows[name]["reason"]
        assert candidate_of(rows[name]).score is None


@pytest.mark.parametrize("kip_1071", [False, True])
def test_a_rebalancing_application_is_not_judged(kip_1071):
    """Every strategy of the table says so."""
    rows = _rows(kip_1071=kip_1071, columns={"state": "PreparingRebalance"})

    assert {row["reason"] for row in rows.values()} == {"rebalancing (PreparingRebalance)"}
    assert list(rows) == list(every())


def test_partitions_without_task_stay_without_owner():
    """A subscribed topic that no task was seen to read is unowned before and after."""
    subs = {"0": Sub(2), "5": Sub(3)}
    rows = _rows([Thread(1, "0_0", rack="a"), Thread(2, "0_1", rack="b")], subs, replicas={})

    assert [rows[name]["unowned"] for name in ["live", *TASKS]] == [3] * 4
    assert [rows[name]["newly_owned"] for name in TASKS] == [0] * 3


@pytest.mark.parametrize("seed", range(examples() // 2))
def test_the_share_across_racks_is_that_of_the_tasks(seed):
    """Judged partition by partition, and counted task by task: the same, whatever the application."""
    chance, kip_1071 = Random(seed), bool(seed % 2)
    one = sketch(chance, Shape(most_tasks=8, most_clients=4, known_racks=seed % 3 > 0))
    app = one.app
    owner = [chance.randrange(len(app.clients)) for _ in app.tasks]
    group, told = live_sketch(one, owner, [[] for _ in app.tasks], kip_1071=kip_1071)
    settings = Settings(rules=(Rule(streams=told),))
    rows = _stored(proposed(settings, group, ask_next_change=False))
    application = running(group, told)
    found = {"live": present(application)} | {
        s.value: outcome(application, s) for s in RackStrategy
    }

    assert NONE not in owner
    for name, each in found.items():
        if rows[name]["feasibility"] == "not applicable":
            assert each.racks_off
            continue
        total = len(application.app.source) - int(each.unknown.sum())
        share = int(each.crossing.sum()) / total if total else None
        assert rows[name]["cross_rack_share"] == (None if share is None else pytest.approx(share))
        assert rows[name]["racks_left_out"] == int(each.unknown.sum())
        assert rows[name]["moves"] == each.moves


PAIRS = [
    Thread(1, "0_0 0_1 1_0", "1_1", rack="a"),
    Thread(2, "1_1", "1_0", rack="a"),
    Thread(3, "0_2 0_3", "1_2", rack="b"),
    Thread(3, rack="b"),
    Thread(4, "1_2 1_3", "1_3", rack="b"),
]
"""Every store has both copies in one rack, 1_3 even on one client."""


@pytest.mark.parametrize("kip_1071", [False, True])
def test_stores_in_one_rack_are_counted_now_and_under_each_strategy(kip_1071):
    """What metrics say of what runs is what its row says; it says besides which, and what brings copies apart."""
    subs = {"0": Sub(4), "1": Sub(4, [STORE])}
    group = live_group(PAIRS, subs, kip_1071=kip_1071)
    rows = _rows(PAIRS, subs, kip_1071=kip_1071, replicas={})
    live, app = rows["live"], running(group)
    (metrics,) = metric_rows(Settings(), group)["group_metrics"]

    counted = (live["stores_in_one_rack"], live["stores_judged"])
    assert counted == (metrics["stores_in_one_rack"], metrics["stores_judged"]) == (4, 4)
    for strategy in RackStrategy:
        asked, row = outcome(app, strategy).stores, rows[strategy.value]
        assert row["stores_in_one_rack"] == asked.together.sum()
        assert row["stores_judged"] == 4
    assert rows["range"]["stores_judged"] is None
    found = {fact["measure"] for fact in live["facts"] if fact["kind"] == "finding"}
    assert found > {"stores_lost_with_one_rack", "copies_on_own_client"}
    assert len([name for name in found if name.startswith("apart_")]) == 1
    assert "4 of 4 stores (1_0, 1_1, 1_2 and 1 more) have all" in " ".join(live["findings"])


def test_a_group_without_copies_has_no_stores_to_judge():
    """Its stores are lost with their instance by choice."""
    rows = _rows([replace(one, standby="") for one in PAIRS], {"0": Sub(4), "1": Sub(4, [STORE])})

    assert {row["stores_judged"] for row in rows.values()} == {None}
    assert rows["live"]["findings"] == []
