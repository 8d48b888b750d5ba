"""The plain steps in order on a lake of small snapshots, with fakes behind the ports."""

from __future__ import annotations

from dataclasses import fields
from datetime import timedelta
from functools import partial

import pytest

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.advice.scoring import Judge
from evenkeel.engine.config import Policy, Rule, Settings
from evenkeel.engine.model.errors import HistoryUnreachable, SnapshotNotFound
from evenkeel.engine.model.facts import finding
from evenkeel.engine.model.figures import Figures
from evenkeel.engine.model.moments import utc_now
from evenkeel.engine.model.tables import Table
from evenkeel.engine.pipeline.advise import advise_groups
from evenkeel.engine.pipeline.propose import moves_of
from evenkeel.engine.records import row_of
from evenkeel.engine.snapshots import METRICS, VALIDATION, split_snapshot_id
from tests.helpers.measuring import of_tables
from tests.helpers.memory import MemoryCluster, MemoryHistory
from tests.helpers.snapshots import group, make_snapshot, member, snapshot_id, store, topic

FEW = 10_000
"""Records a day that count as a saving: little arrives at small groups."""

SETTINGS = Settings(
    rules=(Rule(policy=Policy(confirm_evidence=1, least_saving_records_per_day=FEW)),)
)


def _uneven(number: int):
    """Two members in racks whose partitions lie the wrong way round, and neighbors of every kind."""
    topics = [
        topic("orders", 4, end=1000 + 100 * number, replicas=[[1], [0], [1], [0]]),
        topic("old", 1, end=50),
    ]
    crossed = [
        member("a", ["orders"], {"orders": [0, 1]}, rack="rack-a"),
        member("b", ["orders"], {"orders": [2, 3]}, rack="rack-b"),
    ]
    return make_snapshot(
        number=number,
        topics=topics,
        groups=[
            group("crossing", members=crossed, lag={"orders": [0, 200, 200, 0]}),
            group("empty", lag={"old": [7]}),
            group("broken", error="GROUP_AUTHORIZATION_FAILED"),
            group(
                "moving",
                members=1,
                topics=["orders"],
                state="PreparingRebalance",
                lag={"orders": 5},
            ),
        ],
    )


@pytest.fixture
def lake():
    """A lake of two snapshots of the uneven cluster."""
    lake = Recording()
    store(lake, _uneven(0), _uneven(1))
    return lake


def _by(rows, *names):
    return {tuple(row[n] for n in names) if len(names) > 1 else row[names[0]]: row for row in rows}


def _measured(**described):
    """The metric rows of a single snapshot."""
    lake = Recording()
    [name] = store(lake, make_snapshot(**described))
    tables = pipeline.compute_metrics(lake, SETTINGS, name)
    return {dataset: table.to_pylist() for dataset, table in tables.items()}


def test_a_snapshot_is_in_the_lake_before_the_history_hears_of_it():
    """With the history down the snapshot is whole, and the step fails so that it is tried again."""
    lake, history = Recording(), MemoryHistory()
    history.down = True
    with pytest.raises(HistoryUnreachable):
        pipeline.take_snapshot(MemoryCluster(_uneven(0)), lake, history, SETTINGS, "test")

    kept = lake.snapshots("test")
    assert len(kept) == 1
    assert len(lake.read("groups", kept)) == 4


def test_take_snapshot_notes_times_problems_and_requests():
    """What the reading was like travels in the manifest."""
    lake, history = Recording(), MemoryHistory()
    taken = pipeline.take_snapshot(
        MemoryCluster(_uneven(0)), lake, history, SETTINGS, "test", facts={"run": "r1"}
    )

    assert split_snapshot_id(taken)[0] == "test"
    facts = history.tables.snapshots[taken].manifest.facts
    assert {
        "started_at",
        "finished_at",
        "problems",
        "unread",
        "noted",
        "notes",
        "requests",
        "bytes_sent",
        "bytes_received",
        "kafka_cluster_id",
        "listings",
        "unreadable_groups",
        "run",
    } == facts.keys()
    assert facts["unreadable_groups"] == 1


def test_metrics_of_every_kind_of_group(lake):
    """Numbers where they are known, null where they are not, a reason where a group cannot be read."""
    tables = pipeline.compute_metrics(lake, SETTINGS, snapshot_id(1))
    rows = _by(tables["group_metrics"].to_pylist(), "group_id")

    crossing = rows["crossing"]
    assert (crossing["total_lag"], crossing["largest_member_lag"], crossing["lag_skew"]) == (
        400,
        200,
        1.0,
    )
    assert crossing["cross_rack_share"] == 0.5
    assert crossing["production_per_second"] == pytest.approx(4 * 100 / 300)
    assert (rows["empty"]["total_lag"], rows["empty"]["lag_skew"]) == (7, None)
    assert (rows["broken"]["total_lag"], rows["broken"]["error"]) == (
        None,
        "GROUP_AUTHORIZATION_FAILED",
    )
    assert (rows["moving"]["total_lag"], rows["moving"]["largest_member_lag"]) == (20, None)


def test_no_partition_to_look_at_is_no_lag_of_zero():
    """Where none counts (topics deleted, hidden, not there yet), lag, skew and floor are unknown."""
    described = [
        group("deleted", committed={"gone": [5]}),
        group("hidden"),
        group("waiting", members=[member("m", ["not-there-yet"])]),
        group("nothing-written", members=1, topics=["empty"]),
    ]
    tables = _measured(topics=[topic("empty", 1, end=0)], groups=described)
    rows = _by(tables["group_metrics"], "group_id")

    names = (
        "total_lag",
        "largest_partition_lag",
        "largest_member_lag",
        "lag_skew",
        "lag_lower_bound",
    )
    assert {name: tuple(row[n] for n in names) for name, row in rows.items()} == {
        "deleted": (None,) * 5,
        "hidden": (None,) * 5,
        "waiting": (None,) * 5,
        "nothing-written": (0, 0, 0, None, 0),
    }
    assert {name: row["status"] for name, row in rows.items() if row["status"] != "UNKNOWN"} == {
        "nothing-written": "OK"
    }


def test_partitions_nobody_ever_wrote_to_hide_no_lag():
    """Clients that commit only what they consumed leave them without a commit: all they have to read is known."""
    lake = Recording()
    topics = [topic("t", 4, end=[100, 0, 0, 0])]
    described = group("g", members=2, topics=["t"], committed={"t": [40, None, None, None]})
    snapshots = [make_snapshot(number=n, topics=topics, groups=[described]) for n in range(5)]
    [*_, newest] = store(lake, *snapshots)

    metrics = pipeline.compute_metrics(lake, SETTINGS, newest)
    [row] = metrics["group_metrics"].to_pylist()
    assert (row["total_lag"], row["unknown_lag_partitions"]) == (60, 0)
    assert (row["largest_member_lag"], row["lag_skew"]) == (60, 2)
    assert [one["lag"] for one in metrics["member_metrics"].to_pylist()] == [60, 0]
    assert [one["status"] for one in metrics["partition_metrics"].to_pylist()] == [
        "UNKNOWN",  # nothing is known yet of how often the group commits
        "OK",
        "OK",
        "OK",
    ]


def test_a_group_that_tells_no_subscription_has_no_idle_members():
    """Of a Connect worker's share nothing is known: the judge's numbers are null, not 0."""
    worker = member("w") | {"subscription": None}
    described = group("g", members=[worker], protocol_type="connect")
    [row] = _measured(groups=[described])["group_metrics"]

    assert (row["members"], row["idle_members"], row["drain_seconds"]) == (1, None, None)


def test_computing_twice_gives_the_same_tables(lake):
    """Metrics and candidates are pure functions of stored snapshots and configuration."""
    _measure(lake, snapshot_id(1))
    for compute in (pipeline.compute_metrics, pipeline.propose_candidates):
        first, second = (compute(lake, SETTINGS, snapshot_id(1)) for _ in range(2))

        assert all(first[name].equals(second[name]) for name in first)


def test_every_group_has_a_row_per_strategy(lake):
    """An infeasible strategy is a row with a reason, not an absence."""
    _measure(lake, snapshot_id(1))
    rows = pipeline.propose_candidates(lake, SETTINGS, snapshot_id(1))["candidates"].to_pylist()
    found = _by(rows, "group_id", "strategy")

    assert len(rows) % 4 == 0
    assert found["crossing", "live"]["cross_rack_share"] == 0.5
    assert found["crossing", "roundrobin"]["cross_rack_share"] == 1.0
    assert found["crossing", "range"]["cross_rack_share"] == 0.0
    assert found["crossing", "range"]["moves"] == 2
    for strategy in ("live", "range"):
        assert found["moving", strategy]["reason"] == "rebalancing (PreparingRebalance)"
        assert found["broken", strategy]["feasibility"] == "not applicable"


def _measure(lake, wanted, pattern="*", settings=SETTINGS):
    """What `propose_candidates` reads."""
    metrics = pipeline.compute_metrics(lake, settings, wanted, pattern)
    pipeline.record_metrics(lake, wanted, metrics, pattern)


def _validated(lake, *failures, stage="snapshot"):
    """The history after all steps before the advice, and what validation of a stage said."""
    history, wanted = MemoryHistory(), snapshot_id(1)
    found = {one: Table.from_rows([], VALIDATION) for one in ("snapshot", "metrics", "candidates")}
    found[stage] = Table.from_rows([each | {"stage": stage} for each in failures], VALIDATION)
    pipeline.record_validation(lake, history, wanted, "snapshot", found.pop("snapshot"))
    _measure(lake, wanted)
    pipeline.record_candidates(lake, wanted, pipeline.propose_candidates(lake, SETTINGS, wanted))
    for one, table in found.items():
        pipeline.record_validation(lake, history, wanted, one, table)
    return history


def _advice(lake, history):
    return _by(map(row_of, pipeline.advise(lake, history, SETTINGS, snapshot_id(1))), "group_id")


def test_advice_for_every_group(lake):
    """The one that pays is switched, the others are told why not."""
    history = _validated(lake)
    advice = _advice(lake, history)

    assert advice["crossing"]["verdict"] == "switch"
    assert advice["crossing"]["strategy"] == "range"
    assert advice["crossing"]["reason"].startswith("57,600 records a day less across racks")
    assert "cross-rack share 50% -> 0%" in advice["crossing"]["reason"]
    assert len(advice["crossing"]["moves"]) == 2
    assert advice["empty"]["reason"] == "no members (Empty)"
    assert advice["moving"]["reason"] == "rebalancing (PreparingRebalance)"
    assert advice["broken"]["reason"].startswith("could not be read")
    wanted, tables = snapshot_id(1), history.tables
    assert {wanted} == {*tables.metrics} == {*tables.candidates} == {*tables.snapshots}
    stages = ("snapshot", "metrics", "candidates")
    assert {(wanted, stage) for stage in stages} == {*tables.validation}
    assert tables.snapshots[wanted].advised


def _failure(group_id, severity="critical", reason="offsets are negative"):
    return {
        "snapshot_id": snapshot_id(1),
        "cluster": "test",
        "group_id": group_id,
        "expectation": "x",
        "severity": severity,
        "success": False,
        "reason": reason,
    }


def test_a_withheld_group_is_not_judged_and_the_others_are(lake):
    """The unit of validation is the group."""
    history = _validated(lake, _failure("crossing"), _failure("empty", "warning"))
    advice = _advice(lake, history)

    assert (advice["crossing"]["verdict"], advice["crossing"]["reason"]) == (
        "not evaluated",
        "offsets are negative",
    )
    assert advice["empty"]["reason"] == "no members (Empty)"
    metrics = _by(history.tables.metrics[snapshot_id(1)]["group_metrics"].to_pylist(), "group_id")
    assert (metrics["crossing"]["total_lag"], metrics["crossing"]["error"]) == (
        None,
        "offsets are negative",
    )


def test_a_rejected_snapshot_is_a_verdict(lake):
    """Critical failures that concern no single group reject the whole."""
    failure = _failure(None, reason="no broker") | {"stage": "snapshot"}
    table = Table.from_rows([failure], VALIDATION)

    assert (
        pipeline.record_validation(lake, MemoryHistory(), snapshot_id(1), "snapshot", table)
        == "no broker"
    )


def test_candidates_that_fail_validation_do_not_reach_the_history(lake):
    """They stay in the lake for whoever investigates."""
    history, wanted = _validated(lake, _failure("crossing"), stage="candidates"), snapshot_id(1)

    assert "crossing" not in history.tables.candidates[wanted]["group_id"].to_pylist()
    assert "crossing" in lake.read("candidates", [wanted])["group_id"].to_pylist()


def test_metrics_that_fail_validation_do_not_reach_the_history(lake):
    """The group is shown as unknown with the reason, nothing is proposed or advised for it, and the others go on."""
    failure = _failure("crossing", reason="lag is negative")
    history, wanted = _validated(lake, failure, stage="metrics"), snapshot_id(1)

    found = history.tables.metrics[wanted]
    groups = _by(found["group_metrics"].to_pylist(), "group_id")
    assert set(groups) == {*lake.read("groups", [wanted])["group_id"].to_pylist()}
    withheld = groups["crossing"]
    assert (withheld["status"], withheld["error"]) == ("UNKNOWN", "lag is negative")
    assert withheld["partitions"] is None
    for name in ("member_metrics", "partition_metrics"):
        stored = {*found[name]["group_id"].to_pylist()}
        measured = {*lake.read(name, [wanted])["group_id"].to_pylist()}
        assert stored == measured - {"crossing"} < measured
    assert "crossing" not in history.tables.candidates[wanted]["group_id"].to_pylist()
    advice = _advice(lake, history)
    assert (advice["crossing"]["verdict"], advice["crossing"]["reason"]) == (
        "not evaluated",
        "lag is negative",
    )
    assert advice["empty"]["reason"] == "no members (Empty)"


@pytest.mark.parametrize("stage", ["metrics", "candidates"])
def test_what_is_rejected_as_a_whole_is_no_ground_for_advice(lake, stage):
    """Every group is told so, none to switch; of rejected metrics and what is computed beside them nothing is kept."""
    history = _validated(lake, _failure(None, reason="rows are missing"), stage=stage)
    advice = _advice(lake, history).values()

    if stage == "metrics":
        assert (history.tables.metrics, history.tables.candidates) == ({}, {})
    assert {(row["verdict"], row["reason"]) for row in advice} == {
        ("not evaluated", "rows are missing")
    }


def test_advice_remembers_what_came_before(lake):
    """With more evidence asked for than one snapshot gives, what the preceding one left counts."""
    policy = Policy(confirm_evidence=1.1, least_saving_records_per_day=FEW)
    settings = Settings(rules=(Rule(policy=policy),))
    _measure(lake, snapshot_id(1), settings=settings)
    metrics = {name: lake.read(name, [snapshot_id(1)]) for name in METRICS}
    read = of_tables(metrics | pipeline.propose_candidates(lake, settings, snapshot_id(1)))
    moves = partial(moves_of, lake, settings, snapshot_id(1))
    at, courses, verdicts = utc_now(), {}, []
    for number in range(2):
        moment = at + timedelta(minutes=number)
        (told,) = (
            each
            for each in advise_groups(read, moves, settings, "test", moment, courses, {})
            if each.advice.group == "crossing"
        )
        verdicts.append((told.advice.verdict.value, told.advice.state.value, told.advice.seen))
        courses = {"crossing": told.course}

    assert verdicts == [("stay", "proposed", 1), ("switch", "confirmed", 2)]


def test_what_became_of_advice_is_kept_with_it(lake):
    """State, course and event stand in its row; the next step finds them; a group that is gone gets a last row."""
    history = MemoryHistory()
    assert {row.course for row in _advised(lake, history, 0).values()} == {None}
    second = _advised(lake, history, 1)
    assert (second["crossing"].state, second["empty"].course) == ("confirmed", None)
    (event,) = second["crossing"].events
    assert (event.state, event.strategy) == ("confirmed", second["crossing"].strategy)
    assert event.cause.startswith(f"{event.strategy} would help (")
    assert second["crossing"].state_since == event.at
    without = {"topics": [topic("orders", 4)], "groups": [group("other")]}
    unread = finding("group_unread", ["crossing"], quote="no answer")
    store(lake, make_snapshot(number=2, **without, problems=[unread]))
    store(lake, make_snapshot(number=3, **without))
    assert {*_advised(lake, history, 2)} == {"other"}
    third = _advised(lake, history, 3)
    assert {*third} == {"other", "crossing"}
    assert [(e.state, e.cause) for e in third["crossing"].events] == [
        ("expired", "the group no longer exists")
    ]


def _advised(lake, history, number):
    """The advice on a snapshot, by group, after all the steps before."""
    name = snapshot_id(number)
    history.store_snapshot(lake.manifest("snapshot", name))
    _measure(lake, name)
    pipeline.record_candidates(lake, name, pipeline.propose_candidates(lake, SETTINGS, name))
    return {row.group_id: row for row in pipeline.advise(lake, history, SETTINGS, name)}


def test_a_pattern_narrows_the_groups(lake):
    """By hand, one group is enough."""
    rows = pipeline.compute_metrics(lake, SETTINGS, snapshot_id(1), "cross*")["group_metrics"]

    assert rows["group_id"].to_pylist() == ["crossing"]


def test_an_unknown_snapshot_is_named(lake):
    """The id is in the message."""
    with pytest.raises(SnapshotNotFound, match=snapshot_id(9)):
        pipeline.compute_metrics(lake, SETTINGS, snapshot_id(9))


def test_a_history_that_was_down_catches_up(lake):
    """The snapshot's own row is noted again from its manifest before anything refers to it."""
    history = MemoryHistory()
    pipeline.record_validation(
        lake, history, snapshot_id(1), "snapshot", Table.from_rows([], VALIDATION)
    )

    assert [*history.tables.snapshots] == [snapshot_id(1)]


def test_a_past_that_was_withheld_is_nobodys_past(lake):
    """What validation did not trust then makes no rate now; a rejected snapshot makes none at all."""
    past = snapshot_id(0)

    def rates(*failures):
        table = Table.from_rows([each | {"stage": "snapshot"} for each in failures], VALIDATION)
        pipeline.record_validation(lake, MemoryHistory(), past, "snapshot", table)
        rows = pipeline.compute_metrics(lake, SETTINGS, snapshot_id(1))["group_metrics"].to_pylist()
        found = _by(rows, "group_id")
        return [found[g]["production_per_second"] is None for g in ("crossing", "empty")]

    assert rates() == [False, False]
    assert rates(_failure("crossing")) == [True, False]
    assert rates(_failure(None)) == [True, True]


def test_a_run_for_some_groups_takes_nothing_from_the_others(lake):
    """By hand for a pattern, only matching groups' rows are replaced."""
    wanted = snapshot_id(1)
    _measure(lake, wanted)
    before = lake.read("group_metrics", [wanted]).sorted_by("group_id")
    other = Settings(lookback=1)
    _measure(lake, wanted, "cross*", other)
    after = lake.read("group_metrics", [wanted]).sorted_by("group_id")

    assert after["group_id"].to_pylist() == before["group_id"].to_pylist()
    changed = _by(after.to_pylist(), "group_id")
    assert changed["crossing"]["config_version"] == other.version
    assert changed["empty"]["config_version"] == SETTINGS.version


def test_advice_waits_for_all_groups_of_a_snapshot(lake):
    """Candidates of some groups only would close the snapshot for the rest."""
    wanted, history = snapshot_id(1), MemoryHistory()
    _measure(lake, wanted)
    some = pipeline.propose_candidates(lake, SETTINGS, wanted, "cross*")
    pipeline.record_candidates(lake, wanted, some, "cross*")

    assert [row.group_id for row in pipeline.advise(lake, history, SETTINGS, wanted)] == [
        "crossing"
    ]
    assert history.tables.advice == {}


def test_an_idle_member_consumes_nothing_which_is_known():
    """Without partitions its lag and its rates are 0, not unknown."""
    described = group("g", members=2, lag={"t": 5})
    rows = _measured(topics=[topic("t", 1)], groups=[described])["member_metrics"]
    found = _by(rows, "partitions")

    assert (found[0]["lag"], found[0]["production_per_second"]) == (0, 0.0)
    assert found[1]["production_per_second"] is None


def test_candidates_need_the_metrics_of_their_snapshot_and_no_earlier_one(lake, monkeypatch):
    """They are made of the newest snapshot and its metrics: without these they say what is missing."""
    with pytest.raises(SnapshotNotFound, match="metrics"):
        pipeline.propose_candidates(lake, SETTINGS, snapshot_id(1))
    _measure(lake, snapshot_id(1))
    read: set[str] = set()
    whole = lake.read

    def watched(dataset, ids, **chosen):
        read.update(ids)
        return whole(dataset, ids, **chosen)

    monkeypatch.setattr(lake, "read", watched)
    assert len(pipeline.propose_candidates(lake, SETTINGS, snapshot_id(1))["candidates"])
    assert read == {snapshot_id(1)}


def test_a_group_that_was_not_measured_is_infeasible_with_that_reason(lake):
    """Metrics of some groups only, made by hand, leave the others without a judgment."""
    wanted = snapshot_id(1)
    _measure(lake, wanted, "cross*")
    rows = pipeline.propose_candidates(lake, SETTINGS, wanted)["candidates"].to_pylist()
    reasons = {row["reason"] for row in rows if not row["group_id"].startswith("cross")}
    assert reasons == {"its metrics have not been computed"}


def test_the_live_assignment_is_scored_once(lake, monkeypatch):
    """Its figures in the candidates are those of the metrics; nobody works them out a second time."""
    _measure(lake, snapshot_id(1))
    scored = []
    whole = Judge.figures

    def watched(judge, owner):
        scored.append(bool((owner == judge.group.owner).all()))
        return whole(judge, owner)

    monkeypatch.setattr(Judge, "figures", watched)
    rows = pipeline.propose_candidates(lake, SETTINGS, snapshot_id(1))["candidates"].to_pylist()
    assert not any(scored)
    metrics = lake.read("group_metrics", [snapshot_id(1)]).to_pylist()
    live = {row["group_id"]: row for row in rows if row["strategy"] == "live"}
    names = [one.name for one in fields(Figures)]
    for row in metrics:
        if row["most_partitions"] is not None:
            assert {n: live[row["group_id"]][n] for n in names} == {n: row[n] for n in names}
