"""JSON lines in, JSON lines out: whatever stands in a line has its answer."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.cli.assign_cases import answer, answer_lines, read_case
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.errors import InputError
from tests.unit.cli.conftest import changed

CASE = {
    "id": "one",
    "strategy": "range",
    "topics": {"t": {"partitions": [["a"], ["b", None]]}, "u": {"partitions": [[]]}},
    "members": [
        {"id": "c", "topics": ["t", "u"]},
        {"id": "d", "topics": ["t", "gone"]},
    ],
}


def _answers(*lines, **options):
    texts = [line if isinstance(line, str | bytes) else json.dumps(line) for line in lines]
    return [json.loads(text) for text in answer_lines(texts, **options)]


def test_a_case_has_its_assignment():
    """Every member has a list of topic and partition, under the id of the case."""
    expected = {"id": "one", "assignment": {"c": [["t", 0], ["u", 0]], "d": [["t", 1]]}}

    assert answer(CASE) == expected
    assert _answers(CASE) == [expected]


def test_a_member_without_partitions_has_an_empty_list():
    """Nobody is left out of the answer."""
    assert answer(changed(CASE, ["topics"], {}))["assignment"] == {"c": [], "d": []}


@pytest.mark.parametrize("name", [None, 7, "", "ü", ...])
def test_the_id_comes_back_as_it_was(name):
    """Text and whole numbers are ids; an id is a help, not a duty."""
    assert answer(changed(CASE, ["id"], name))["id"] == (None if name is ... else name)


def test_all_fields_reach_the_strategy():
    """Racks, claims, generations, blobs, lags, rates, sizes, leaders, capacities and config stand in the group."""
    topic = {
        "partitions": [["a"], ["b", None]],
        "id": "6f9619ff-8b86-d011-b42d-00cf4fc964ff",
        "lags": [120, None],
        "rates": [3, None],
        "bytes_per_record": [None, 200],
        "leaders": ["b", None],
    }
    member = {
        "id": "c",
        "topics": ["t", "gone"],
        "instance_id": "i-1",
        "rack": "a",
        "capacity": 40,
        "owned": [["t", 1], ["dropped", 3]],
        "generation": 4,
        "user_data": {"generation": 3},
        "config": {"weight": 2},
    }

    group, strategy = read_case({"strategy": "live", "topics": {"t": topic}, "members": [member]})

    assert strategy == "live"
    there = dict(zip(group.topics, group.topic_exists.tolist(), strict=True))
    assert list(there.items()) == [("t", True), ("gone", False), ("dropped", False)]
    assert group.topic_ids[0] == topic["id"]
    assert [group.racks[r] if r != NONE else None for r in group.replica_rack] == ["a", "b", None]
    assert [group.racks[r] if r != NONE else None for r in group.leader_rack] == ["b", None]
    assert group.lag.tolist() == [120, None]
    assert str(group.rate.tolist()) == "[3.0, nan]"
    assert str(group.bytes_per_record.tolist()) == "[nan, 200.0]"
    assert group.capacity.tolist() == [40.0]
    assert (group.instance_ids, group.racks[group.member_rack[0]]) == (("i-1",), "a")
    assert group.owner.tolist() == [NONE, 0]
    assert (group.owned_topic.tolist(), group.owned_partition.tolist()) == ([0, 2], [1, 3])
    assert group.generation.tolist() == [4]
    assert (group.user_data, group.config) == (({"generation": 3},), ({"weight": 2},))


@pytest.mark.parametrize("absent", ["", None, ...])
def test_no_rack_is_no_rack(absent):
    """An empty rack, null and a missing field are the same."""
    group, _ = read_case(
        changed(CASE, ["members", 0, "rack"], absent) if absent is not ... else CASE
    )

    assert group.member_rack.tolist() == [NONE, NONE]


@pytest.mark.parametrize(
    ("situation", "claims", "expected"),
    [
        ("nobody", [([], 1), ([], 1)], NONE),
        ("one", [([], 1), ([["t", 0]], 1)], 1),
        ("the newer of two", [([["t", 0]], 2), ([["t", 0]], 1)], 0),
        ("one with a generation before one without", [([["t", 0]], None), ([["t", 0]], 0)], 1),
        ("two of one generation", [([["t", 0]], 2), ([["t", 0]], 2)], NONE),
        ("two without any", [([["t", 0]], None), ([["t", 0]], -1)], NONE),
        ("one that says it twice", [([["t", 0], ["t", 0]], 2), ([], 2)], 0),
    ],
)
def test_the_owner_is_the_newest_claim(situation, claims, expected):
    """Of several members that claim a partition, the one of the newest generation owns it."""
    members = [
        {"id": str(i), "topics": ["t"], "owned": owned, "generation": generation}
        for i, (owned, generation) in enumerate(claims)
    ]

    group, _ = read_case(
        {"strategy": "live", "topics": {"t": {"partitions": [[]]}}, "members": members}
    )

    assert group.owner.tolist() == [expected]


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (["strategy"], ..., "strategy: "),
        (["strategy"], "nope", "no strategy 'nope'. Known: live, range, roundrobin"),
        (["topics"], [], "topics: "),
        (["members"], {}, "members: "),
        (["id"], [1], "id: give text or a whole number"),
        (["members", 1, "topics"], "t", "members[1].topics: "),
        (["members", 1, "id"], "c", "members[1].id 'c' is there twice"),
        (["members", 0, "owned"], [["t"]], "members[0].owned[0][1]: "),
        (["members", 0, "owned"], [["t", 2**31]], "members[0].owned[0][1]: "),
        (["members", 0, "generation"], 10**30, "members[0].generation: "),
        (["topics", "t"], 3, "topics.t: Input should be a valid dictionary."),
        (["topics", "t", "partitions"], [[1]], "topics.t.partitions[0][0]: "),
        (["topics", "t", "lags"], [1], "topics.t: lags has 1 entries for 2 partitions"),
        (["topics", "t", "lags"], [1, -1], "topics.t.lags[1]: "),
        (["tasks"], [], "clients: Field required"),
    ],
)
def test_a_wrong_value_is_an_error_that_names_the_field(path, value, told):
    """The line of a case that cannot be read says which field is wrong."""
    case = changed(CASE, path, value)

    (result,) = _answers(case)

    assert sorted(result) == ["error", "id"]
    assert told in result["error"]
    assert result["id"] == (None if path == ["id"] else "one")


def test_many_wrong_values_are_counted():
    """The first three errors stand for themselves, the rest for a number."""
    (result,) = _answers(changed(CASE, ["members", 0, "topics"], [1, 2, 3, 4, 5]))

    assert result["error"].count("members[0].topics[") == 3
    assert result["error"].endswith("and 2 more.")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("", "the line is empty"),
        ("range", "not JSON"),
        ("[]", "a JSON list, not an object"),
        ('{"id": NaN}', "NaN is no JSON number"),
        ('{"id": 1' + "0" * 5000 + "}", "not JSON"),
        ("[" * 200_000, "not JSON"),
        (b"\xff\xfe\x00\xd8", "not JSON"),
        (json.dumps(changed(CASE, ["topics", "t", "rates"], [1, 2])).replace("[1, 2]", "[1, 1e999]"),
         "topics.t.rates[1]: "),
    ],
)  # fmt: skip
def test_garbage_has_its_answer_in_place(line, told):
    """A line that is no case gets an error, and the lines around it are answered."""
    before, middle, after = _answers(CASE, line, CASE)

    assert "assignment" in before
    assert before == after
    assert told in middle["error"]
    assert len(middle["error"]) < 400


@given(st.text() | st.binary() | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(
        st.sampled_from(["id", "strategy", "topics", "members", "partitions", "t"]), inner),
).map(json.dumps))  # fmt: skip
def test_no_line_ever_raises(line):
    """Whatever comes in, one JSON object goes out."""
    (result,) = _answers(line)

    assert "error" in result or "assignment" in result


@pytest.mark.parametrize("strategy", list(ASSIGNORS))
def test_every_strategy_can_be_asked(strategy):
    """Any name of the table answers, given what it looks at: lags, and a rack everywhere."""
    case = changed(CASE, ["strategy"], strategy)
    case["topics"] = {
        "t": {"partitions": [["a"], ["b"]], "lags": [3, 0]},
        "u": {"partitions": [["a"]], "lags": [5]},
    }
    for member, rack in zip(case["members"], "ab", strict=True):
        member["rack"] = rack

    assert set(_answers(case)[0]["assignment"]) == {"c", "d"}


COOPERATIVE = {
    "id": "two",
    "strategy": "cooperative-sticky",
    "topics": {"t": {"partitions": [[], [], [], []]}},
    "members": [
        {"id": "a", "topics": ["t"], "owned": [["t", p] for p in range(4)], "generation": 1},
        {"id": "b", "topics": ["t"]},
    ],
}


def test_a_cooperative_round_and_where_it_settles():
    """One round withholds what must be given up first; settled, everybody has theirs, in so many rounds."""
    (round_one,) = _answers(COOPERATIVE)
    (settled,) = _answers(COOPERATIVE, settled=True)

    assert round_one["assignment"] == {"a": [["t", 0], ["t", 1]], "b": []}
    assert round_one["transferring"] == [["t", 2, "b"], ["t", 3, "b"]]
    assert settled["assignment"] == {"a": [["t", 0], ["t", 1]], "b": [["t", 2], ["t", 3]]}
    assert (settled["rounds"], settled.get("transferring", [])) == (2, [])


def test_what_kafka_sends_wrongly_is_sent_and_named():
    """A member without subscription that comes first is given partitions: as Kafka does, with a finding."""
    members = [{"id": "a", "topics": []}, {"id": "b", "topics": ["t"]}]

    (result,) = _answers(COOPERATIVE | {"strategy": "sticky", "members": members})

    assert {owner: len(held) for owner, held in result["assignment"].items()} == {"a": 2, "b": 2}
    assert "does not subscribe to its topic" in result["findings"][0]


def test_infeasible_is_an_error_of_its_line():
    """A strategy that cannot run says so under the case's id."""
    case = {"id": 3, "strategy": "roundrobin", "topics": {}, "members": []}

    (result,) = _answers(case)

    assert result["id"] == 3
    assert "0 members" in result["error"]


def test_names_of_any_characters_survive():
    """Half characters, quotes and line breaks come back as they were sent."""
    name = '\ud800 "é"\n'
    case = {
        "strategy": "range",
        "topics": {name: {"partitions": [[]]}},
        "members": [{"id": name, "topics": [name]}],
    }

    assert _answers(case)[0]["assignment"] == {name: [[name, 0]]}


def test_unknown_fields_are_passed_over():
    """A case may carry more than is read."""
    assert answer({**CASE, "subscription_type": "homogeneous"}) == answer(CASE)


def test_repeat_asks_so_often_on_fresh_groups(monkeypatch):
    """With repeat N the strategy is asked N times more, never with what it worked out before."""
    asked = []

    class Counts(type(ASSIGNORS["range"])):
        def assign(self, group):
            asked.append("subscribers" in vars(group) or "topic_of" in vars(group))
            return super().assign(group)

    monkeypatch.setattr("evenkeel.engine.cli.assign_cases.by_name", lambda name: Counts())

    (result,) = _answers(CASE, repeat=5)

    assert asked == [False] * 6
    assert result["milliseconds"] >= 0


def test_a_strategy_that_breaks_is_an_error_of_its_line(monkeypatch):
    """A custom strategy that raises anything harms only its own line."""

    class Breaks:
        name, needs = "breaks", frozenset()

        def assign(self, group):
            raise ZeroDivisionError("no weight")

    monkeypatch.setattr("evenkeel.engine.cli.assign_cases.by_name", lambda name: Breaks())

    assert _answers(CASE) == [{"id": "one", "error": "ZeroDivisionError: no weight"}]


def test_a_case_that_cannot_be_read_raises_outside_of_lines():
    """Called as a function, an error is an InputError."""
    with pytest.raises(InputError, match="strategy"):
        read_case({})


STREAMS = {
    "strategy": "none",
    "topics": {"t": {"partitions": [[]]}},
    "tasks": [{"id": "0_0", "partitions": [["t", 0]]}],
    "clients": [{"process_id": "00000000-0000-0000-0000-000000000001"}],
    "config": {},
}


@pytest.mark.parametrize(
    ("case", "path", "told"),
    [
        (CASE, ["cost"], "cost: no such field, the nearest is costs."),
        (CASE, ["topics", "t", "lag"], "topics.t.lag: no such field, the nearest is lags."),
        (
            CASE,
            ["members", 1, "instanceId"],
            "members[1].instanceId: no such field, the nearest is instance_id.",
        ),
        (CASE, ["costs", "zzz"], "costs.zzz: no such field, there are non_overlap, traffic."),
        (
            CASE | {"strategy": "sticky"},
            ["members", 0, "user_data", "onwed"],
            "user_data of member 'c': onwed: no such field, the nearest is owned.",
        ),
        (
            STREAMS,
            ["tasks", 0, "changelogs"],
            "tasks[0].changelogs: no such field, the nearest is changelog_partitions.",
        ),
        (
            STREAMS,
            ["config", "num_standby"],
            "config.num_standby: no such field, the nearest is num_standby_replicas.",
        ),
    ],
)
def test_a_field_that_there_is_not_is_named_with_the_nearest(case, path, told):
    """At its place, by the names under which cases are written: a typing error answers another question otherwise."""
    assert _answers(changed(case, path, 1)) == [{"id": case.get("id"), "error": told}]


def test_what_others_call_their_own_is_theirs():
    """User data and settings of a strategy that is not a sticky one hold whatever they hold; no hint is refused."""
    own = {"user_data": {"weight": 2}, "config": {"zone": "a"}, "id": "c", "topics": ["t"]}
    case = CASE | {"members": [own], "subscription_type": "homogeneous"}

    assert answer(case)["assignment"]["c"] == [["t", 0], ["t", 1]]


@pytest.mark.parametrize(
    ("strategy", "sent", "afresh"),
    [
        ("sticky", {"owned": [["t", 0]]}, True),
        ("sticky", {"owned": [["t", 0]], "generation": 3}, True),
        ("sticky", {"user_data": {"owned": [["t", 0]]}}, False),
        ("cooperative-sticky", {"user_data": {"owned": [["t", 0]], "generation": 3}}, True),
        ("cooperative-sticky", {"owned": [["t", 0]]}, False),
        ("range", {"owned": [["t", 0]]}, False),
    ],
)
def test_who_is_asked_afresh_is_told(strategy, sent, afresh):
    """What a member had counts where the strategy reads it, with or without a generation; elsewhere it says so."""
    members = [{"id": "a", "topics": ["t"]}, {"id": "b", "topics": ["t"]} | sent]
    case = {"strategy": strategy, "topics": {"t": {"partitions": [[], []]}}, "members": members}
    told = answer(case)

    assert ([note.split(":")[0] for note in told.get("notes", [])]) == [
        "b is replayed afresh"
    ] * afresh
    if strategy != "range":
        assert told["assignment"]["b"] == ([["t", 1]] if afresh else [["t", 0]])
