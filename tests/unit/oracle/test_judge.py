"""When two answers are the same, and what is left of a group that shows a difference."""

from __future__ import annotations

import pytest

from tests.oracle.judge import difference, smallest

MEMBERS = [{"id": "a"}, {"id": "b"}]


def judged(strategy, theirs, ours, **more):
    """What differs between two assignments."""
    case = {"strategy": strategy, "members": MEMBERS}
    return difference(case, {"assignment": theirs, **more}, {"assignment": ours, **more})


def member(name, topics, **told):
    """A member of a case."""
    empty = {"instance_id": None, "rack": None, "owned": [], "generation": None, "user_data": None}
    return {"id": name, "topics": topics, **empty, **told}


@pytest.mark.parametrize(
    ("strategy", "counts"),
    [
        ("roundrobin", True),
        ("sticky", True),
        ("cooperative-sticky", True),
        ("range", False),
        ("uniform", False),
        ("range-server", False),
    ],
)
def test_order_counts_where_it_is_specified(strategy, counts):
    """The same partitions in another order differ for roundrobin and the sticky ones alone."""
    found = judged(strategy, {"a": [["t", 0], ["t", 1]]}, {"a": [["t", 1], ["t", 0]]})

    assert ("has another order" in found) == counts


def test_a_member_without_entry_has_an_empty_list():
    """Kafka leaves entries out at times."""
    assert judged("uniform", {}, {"a": [], "b": []}) == ""


def test_another_partition_is_named():
    """The first member that differs, with what each side alone gives it."""
    found = judged("range", {"a": [["t", 0]]}, {"a": [["t", 1]]})

    assert found == "member 'a': Kafka alone has [('t', 0)], ours alone [('t', 1)]"


def test_a_partition_given_twice_is_not_one_given_once():
    """Lists are compared with their repetitions."""
    assert judged("range", {"a": [["t", 0], ["t", 0]]}, {"a": [["t", 0]]})


def test_nobody_may_be_invented():
    """An entry for a member that the group has not is a difference, even an empty one."""
    assert "'z'" in judged("range", {}, {"z": []})


def test_any_error_equals_any_error():
    """The classes' messages are not ours, but an answer is no error."""
    case, error, answer = {"strategy": "range", "members": []}, {"error": "x"}, {"assignment": {}}

    assert difference(case, error, {"error": "y"}) == ""
    assert difference(case, error, answer) == "Kafka: x; ours: an answer"
    assert difference(case, answer, error) == "Kafka: an answer; ours: x"


def test_what_is_held_back_is_compared_in_any_order():
    """Transfers are a set; one more or less is a difference."""
    case = {"strategy": "cooperative-sticky", "members": MEMBERS}
    one, two = ["t", 0, "a"], ["t", 1, "b"]
    theirs = {"assignment": {}, "transferring": [one, two]}

    assert difference(case, theirs, {"assignment": {}, "transferring": [two, one]}) == ""
    assert "('t', 1, 'b')" in difference(case, theirs, {"assignment": {}, "transferring": [one]})


def test_the_smallest_case_keeps_only_what_shows_the_difference():
    """Members, topics, partitions, claims, racks and user data that do not matter are gone."""
    case = {
        "strategy": "sticky",
        "topics": {t: {"partitions": [["r"], ["r"], ["r"]]} for t in ("t0", "t1", "t2")},
        "members": [
            member(f"m{n}", ["t0", "t1", "t2"], rack="r", instance_id=f"i{n}", generation=n)
            for n in range(9)
        ],
    }
    case["members"][6]["user_data"] = {"owned": [["t1", 0], ["t1", 1], ["t2", 2]], "generation": 4}

    def differs(less):
        claims = [pair for m in less["members"] for pair in (m["user_data"] or {}).get("owned", ())]
        return ["t1", 1] in claims and len(
            less["topics"].get("t1", {"partitions": ()})["partitions"]
        ) > 1

    small = smallest(case, differs)

    assert small == {
        "strategy": "sticky",
        "topics": {"t1": {"partitions": [[], []]}},
        "members": [member("m6", [], user_data={"owned": [["t1", 1]], "generation": 4})],
    }


def test_a_smaller_group_is_called_what_a_coordinator_would_call_it():
    """Whatever is taken from it, a group's kind is that of the subscriptions left."""
    case = {
        "strategy": "uniform",
        "subscription_type": "heterogeneous",
        "topics": {"t": {"partitions": [[]]}, "u": {"partitions": [[]]}},
        "members": [member("a", ["t"]), member("b", ["t", "u"])],
    }
    asked = []

    smallest(case, lambda less: asked.append(less) is not None)

    assert {less["subscription_type"] for less in asked} == {"homogeneous", "heterogeneous"}
    for less in asked:
        alike = len({frozenset(m["topics"]) for m in less["members"]}) <= 1
        assert less["subscription_type"] == ("homogeneous" if alike else "heterogeneous")


@pytest.mark.parametrize("outcome", [True, False])
def test_making_smaller_ends_after_so_many_tries(outcome):
    """The budget holds, whether everything differs or nothing more does."""
    asked = []
    case = {"strategy": "range", "topics": {}, "members": [member(f"m{n}", []) for n in range(64)]}

    smallest(case, lambda less: asked.append(less) or outcome, tries=3)

    assert len(asked) == 3
