"""When two answers are the same."""

from __future__ import annotations

import pytest

from tests.oracle.judge import difference

MEMBERS = [{"id": "a"}, {"id": "b"}]


def judged(strategy, theirs, ours, **more):
    """What differs between two assignments."""
    case = {"strategy": strategy, "members": MEMBERS}
    return difference(case, {"assignment": theirs, **more}, {"assignment": ours, **more})


@pytest.mark.parametrize(
    ("strategy", "counts"),
    [
        ("roundrobin", True),
        ("cooperative-sticky", True),
        ("range", False),
        ("uniform", False),
    ],
)
def test_order_counts_where_it_is_specified(strategy, counts):
    """The same partitions in another order differ for roundrobin and the sticky ones alone."""
    found = judged(strategy, {"a": [["t", 0], ["t", 1]]}, {"a": [["t", 1], ["t", 0]]})

    assert ("has another order" in found) == counts


def test_another_partition_is_named():
    """The first member that differs, with what each side alone gives it."""
    found = judged("range", {"a": [["t", 0]]}, {"a": [["t", 1]]})

    assert found == "member 'a': Kafka alone has [('t', 0)], ours alone [('t', 1)]"


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
