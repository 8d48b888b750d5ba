"""A case of Kafka Streams in, its placement out; what is wrong with a case is its answer."""

from __future__ import annotations

import json

import pytest

from evenkeel.engine.cli.assign_cases import answer, answer_lines
from evenkeel.engine.cli.task_cases import ApplicationCase, read_tasks
from evenkeel.engine.streams.settings import Costs, Overlap, RackStrategy, TaskConfig
from tests.unit.cli.conftest import changed

P0, P1 = (f"00000000-0000-0000-0000-00000000000{n}" for n in range(2))

CASE = {
    "id": "one",
    "strategy": "none",
    "topics": {
        "t": {"partitions": [["a"], ["b"]]},
        "log": {"partitions": [["a"], ["b"]]},
    },
    "tasks": [
        {
            "id": f"0_{p}",
            "partitions": [["t", p]],
            "changelog_partitions": [["log", p]],
            "stateful": True,
            "log_size": 50_000,
        }
        for p in range(2)
    ],
    "clients": [
        {"process_id": P0, "threads": 1, "rack": "b", "task_lags": {}},
        {"process_id": P1, "threads": 1, "rack": "a", "task_lags": {"0_0": -2, "0_1": -2}},
    ],
}


def _error(case):
    [line] = answer_lines([json.dumps(case)])
    return json.loads(line)["error"]


def test_a_case_has_its_placement():
    """Every client has a list; what runs elsewhere for now has a target and a warm-up."""
    assert answer(CASE) == {
        "id": "one",
        "active": {P0: [], P1: ["0_0", "0_1"]},
        "standby": {P0: ["0_0"], P1: []},
        "probing": True,
        "target": {P0: ["0_0"], P1: ["0_1"]},
        "planned": {P0: [], P1: []},
        "initial": {P0: ["0_0"], P1: ["0_1"]},
        "warmup": {P0: ["0_0"], P1: []},
        "racks": "the strategy is none",
    }


def test_racks_are_looked_at_when_the_strategy_says_so():
    """Racks played a part: there is no reason why not."""
    result = answer(changed(CASE, ["strategy"], "min_traffic"))

    assert (result["racks"], result["target"]) == (None, {P0: ["0_1"], P1: ["0_0"]})


def test_why_racks_play_no_part_is_said():
    """A missing rack with its client, equal costs, each in words."""
    bare = changed(CASE, ["clients", 0, "rack"], None) | {"strategy": "min_traffic"}
    equal = changed(CASE, ["topics", "t", "partitions"], [["a", "b"]] * 2) | {
        "strategy": "min_traffic"
    }

    assert answer(bare)["racks"].startswith(f"1 client ({P0}) has no rack")
    assert answer(equal)["racks"].startswith("every task costs the same on every client")


def test_findings_stand_beside_the_placement():
    """Only where there are any."""
    result = answer(changed(CASE, ["config", "num_standby_replicas"], 3))

    assert result["findings"] == ["3 standbys are configured, and with 2 clients a task can have 1"]
    assert "findings" not in answer(CASE)


def test_all_settings_reach_the_placement():
    """Kafka's names for Kafka's settings; overlap and rack_as_tag are ours."""
    case = CASE | {
        "strategy": "balanced_min_cost",
        "costs": {"traffic": 3},
        "config": {
            "num_standby_replicas": 1,
            "acceptable_recovery_lag": 5,
            "max_warmup_replicas": 7,
            "rack_aware_assignment_tags": ["zone"],
            "rack_as_tag": True,
            "overlap": "previous",
        },
    }
    _, config = read_tasks(ApplicationCase.model_validate(case))

    assert config == TaskConfig(
        num_standby_replicas=1,
        acceptable_recovery_lag=5,
        max_warmup_replicas=7,
        tags=("zone",),
        rack_as_tag=True,
        strategy=RackStrategy.BALANCE_SUBTOPOLOGY,
        costs=Costs(traffic=3, non_overlap=1),
        overlap=Overlap.PREVIOUS,
    )


def test_settings_left_out_are_kafkas_defaults():
    """A case needs tasks, clients and a strategy, no more."""
    _, config = read_tasks(
        ApplicationCase.model_validate({"strategy": "none", "tasks": [], "clients": []})
    )

    assert config == TaskConfig()


def test_the_past_of_clients_reaches_the_placement():
    """Previous tasks and tags as well as lags."""
    client = CASE["clients"][1] | {
        "previous_active": ["0_1"],
        "previous_standby": ["0_0"],
        "tags": {"zone": "z"},
    }
    app, _ = read_tasks(ApplicationCase.model_validate(changed(CASE, ["clients", 1], client)))

    assert app.previous_owner.tolist() == [-1, 1]
    assert (app.standby_task.tolist(), app.tags) == ([0], ({}, {"zone": "z"}))


def test_settled_follows_the_application_to_its_end():
    """Rebalances until nothing warms up; the answer is the last one."""
    result = answer(CASE, settled=True)

    assert (result["rounds"], result["probing"]) == (2, False)
    assert result["active"] == {P0: ["0_0"], P1: ["0_1"]}


@pytest.mark.parametrize("initial", [None, {P0: ["0_0"], P1: ["0_1"]}])
def test_repeat_adds_the_time(initial):
    """Of the whole placement, or of the optimizer alone."""
    case = CASE if initial is None else CASE | {"initial": initial, "strategy": "min_traffic"}

    assert answer(case, repeat=2)["milliseconds"] >= 0


def test_with_an_initial_assignment_the_optimizer_is_asked_alone():
    """Its answer is who has what, and nothing of standbys."""
    case = CASE | {"initial": {P0: ["0_0"], P1: ["0_1"]}, "strategy": "min_traffic"}

    assert answer(case) == {"id": "one", "active": {P0: ["0_1"], P1: ["0_0"]}}


@pytest.mark.parametrize(
    ("initial", "said"),
    [
        ({P0: ["0_0"]}, "initial: task '0_1' has no client."),
        ({P0: ["0_0", "0_1"], P1: ["0_1"]}, "initial: task '0_1' has two clients."),
        ({"who": ["0_0"]}, "initial: there is no client 'who'"),
        ({P0: ["7_7"]}, "no task '7_7'"),
    ],
)
def test_an_initial_assignment_must_name_each_task_once(initial, said):
    """The error names the task."""
    assert said in _error(CASE | {"initial": initial})


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (
            ["strategy"],
            "range",
            "strategy: an application has tasks, there is no strategy 'range'. Known: none,",
        ),
        (["assignor"], "lazy", "assignor: 'lazy' is not emulated."),
        (["clients"], [], "there are 2 tasks and no client"),
        (["clients", 0, "process_id"], "c0", "process id 'c0' is no UUID."),
        (["clients", 0, "process_id"], P1, f"process {P1!r} is given twice."),
        (["clients", 0, "threads"], 0, "clients[0].threads: Input should be greater than or equal"),
        (["clients", 0, "task_lags"], {"9_9": 0}, "names task '9_9', which is not among the 2"),
        (["tasks", 0, "id"], "zero", "'zero' is no task id."),
        (["config", "overlap"], "last", "config.overlap: Input should be 'computed' or 'previous'"),
    ],
)
def test_what_is_wrong_with_a_case_is_its_answer(path, value, said):
    """The field is named, and what would do."""
    assert said in _error(changed(CASE, path, value))


def test_cases_of_both_kinds_may_stand_in_one_input():
    """Each line is answered for itself."""
    group = {
        "id": 2,
        "strategy": "range",
        "topics": {"t": {"partitions": [[]]}},
        "members": [{"id": "c", "topics": ["t"]}],
    }
    lines = [json.loads(line) for line in answer_lines([json.dumps(CASE), json.dumps(group)])]

    assert [sorted(line)[0] for line in lines] == ["active", "assignment"]


def test_the_public_sticky_assignor_is_asked_by_either_name():
    """As the assignor of a case, with any rack strategy, or as its strategy; at its own costs."""
    by_assignor, by_name = CASE | {"assignor": "sticky"}, CASE | {"strategy": "sticky-tasks"}

    assert answer(by_assignor) == answer(by_name)
    assert answer(by_name)["probing"] is False
    assert read_tasks(ApplicationCase.model_validate(by_name))[1].costs == Costs(
        traffic=1, non_overlap=10
    )
    assert answer(by_name, settled=True)["rounds"] == 1
    assert answer(by_name, repeat=1)["milliseconds"] >= 0


def test_the_order_of_standbys_can_be_told():
    """Each task with changelogs once, else it is an error."""
    case = CASE | {"strategy": "sticky-tasks", "config": {"num_standby_replicas": 1}}

    assert answer(case | {"standby_order": ["0_1", "0_0"]})["standby"]
    assert "standby_order: " in _error(case | {"standby_order": ["0_1"]})
    assert "standby_order: " in _error(case | {"standby_order": ["0_1", "0_7"]})


SERVER = CASE | {
    "strategy": "sticky-tasks-server",
    "clients": [],
    "members": [
        {"id": "m0", "process_id": P0, "previous_active": ["0_1"]},
        {"id": "m1", "process_id": P1, "previous_active": ["0_0"]},
    ],
    "config": {"num_standby_replicas": 1},
}


def test_the_brokers_assignor_answers_by_client_and_by_member():
    """Members keep what they have; clients need not be listed."""
    assert answer(SERVER) == {
        "id": "one",
        "active": {P0: ["0_1"], P1: ["0_0"]},
        "standby": {P0: ["0_0"], P1: ["0_1"]},
        "members": {
            "m0": {"active": ["0_1"], "standby": ["0_0"]},
            "m1": {"active": ["0_0"], "standby": ["0_1"]},
        },
    }
    assert answer(SERVER, settled=True)["rounds"] == 1
    assert answer(SERVER, repeat=1)["milliseconds"] >= 0


@pytest.mark.parametrize(
    ("members", "said"),
    [
        (None, "members: sticky-tasks-server gives tasks to members"),
        ([], "there are 2 tasks and no member"),
        ([SERVER["members"][0]] * 2, "members: a member is listed twice."),
        (
            [SERVER["members"][0] | {"previous_standby": ["9_9"]}],
            "members: m0 names task '9_9', which is not among the 2 tasks.",
        ),
    ],
)
def test_what_is_wrong_with_members_is_said(members, said):
    """None, nobody, twice, or with a task there is none of."""
    assert said in _error(SERVER | {"members": members})
