"""Our assignor for brokers, replayed: racks by name of the situation, and where it leaves the group to `uniform`."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given

from evenkeel.engine.assignors import ASSIGNORS, racks_server
from evenkeel.engine.assignors.interface import fresh, rejoining, spec
from evenkeel.engine.assignors.kit.kernels import held_to
from evenkeel.engine.assignors.racks_server import RacksServer
from evenkeel.engine.model.arrays import NONE
from tests.helpers.owned import owned
from tests.helpers.strategies import groups

RACKS_SERVER = RacksServer()

AB = {"c": "a", "d": "b"}
BOTH = {"c": ["t"], "d": ["t"]}


@pytest.mark.parametrize(
    ("situation", "members", "topics", "more", "expected"),
    [
        (
            "each its own rack",
            BOTH,
            {"t": 4},
            {"racks": AB, "replicas": {"t": [["b"], ["a"], ["b"], ["a"]]}},
            {"c": "t-1 t-3", "d": "t-0 t-2"},
        ),
        (
            "counts before racks",
            BOTH,
            {"t": 4},
            {"racks": AB, "replicas": {"t": [["a"]] * 4}},
            {"c": "t-0 t-1", "d": "t-2 t-3"},
        ),
        (
            "racks before moves",
            BOTH,
            {"t": 2},
            {
                "racks": AB,
                "replicas": {"t": [["b"], ["a"]]},
                "owned": {"c": [("t", 0)], "d": [("t", 1)]},
            },
            {"c": "t-1", "d": "t-0"},
        ),
        (
            "an unknown rack is near everything",
            BOTH,
            {"t": 2},
            {
                "racks": {"c": "a"},
                "replicas": {"t": [["a"], ["b"]]},
                "owned": {"c": [("t", 1)], "d": [("t", 0)]},
            },
            {"c": "t-0", "d": "t-1"},
        ),
        (
            "nothing moves without need",
            {"c": ["t"], "d": ["t"], "e": ["t"]},
            {"t": 5},
            {"owned": {"c": [("t", 4), ("t", 1), ("t", 0)], "d": [("t", 2), ("t", 3)]}},
            {"c": "t-0 t-1", "d": "t-2 t-3", "e": "t-4"},
        ),
        (
            "evener than uniform where subscriptions differ",
            {"c": ["t"], "d": ["t", "u"], "e": ["u"]},
            {"t": 4, "u": 2},
            {"owned": {"d": [("u", 0), ("u", 1)]}},
            {"c": "t-0 t-1", "d": "t-2 t-3", "e": "u-0 u-1"},
        ),
    ],
)
def test_racks_server_assigns(situation, members, topics, more, expected):
    """Even first, then near, then as it was."""
    given = owned(RACKS_SERVER, spec(members, topics, **more))

    assert given == expected, situation


def test_members_are_taken_by_id_and_topics_by_theirs():
    """The order in which they are told makes no difference, to ties either."""
    topics = {"u": 3, "t": 3}
    one = owned(RACKS_SERVER, spec({"c": ["t", "u"], "d": ["u", "t"]}, topics))
    other = owned(
        RACKS_SERVER, spec({"d": ["t", "u"], "c": ["t", "u"]}, dict(reversed(topics.items())))
    )

    assert one == other


def test_of_two_that_claim_a_partition_the_first_by_id_has_it():
    """What is no more, and what nobody subscribes to, is no claim."""
    told = {"d": [("t", 0), ("t", 1)], "c": [("t", 0), ("t", 9), ("u", 0)]}
    group = spec({"d": ["t"], "c": ["t"]}, {"t": 2, "u": 1}, owned=told)

    assert owned(RACKS_SERVER, group) == {"c": "t-0", "d": "t-1"}


def test_a_large_group_is_left_to_uniform(monkeypatch):
    """A broker has more to do."""
    members = {m: ["t"] for m in "cde"}
    racks, replicas = {"c": "a", "d": "b", "e": "c"}, {"t": [["c"], ["a"], ["b"]]}
    group = spec(members, {"t": 3}, racks=racks, replicas=replicas)
    near = RACKS_SERVER.assign(group).owner.tolist()
    monkeypatch.setattr(racks_server, "MOST_PARTITIONS", 2)

    by_uniform = ASSIGNORS["uniform"].assign(group).owner.tolist()

    assert RACKS_SERVER.assign(group).owner.tolist() == by_uniform != near


def test_where_subscriptions_differ_much_members_get_as_many_as_by_uniform(monkeypatch):
    """What would be a large flow is one of fixed counts."""
    group = spec({"c": ["t"], "d": ["t", "u"], "e": ["u"]}, {"t": 9, "u": 2})
    group = rejoining(group, ASSIGNORS["uniform"].assign(group).owner)
    even = Counter(RACKS_SERVER.assign(group).owner.tolist())
    monkeypatch.setattr(racks_server, "MOST_STEPS", 0)

    by_uniform = ASSIGNORS["uniform"].assign(group).owner

    assert Counter(RACKS_SERVER.assign(group).owner.tolist()) == Counter(by_uniform.tolist())
    assert sum(n * n for n in even.values()) <= sum(
        n * n for n in Counter(by_uniform.tolist()).values()
    )


@given(groups())
def test_who_has_the_answer_keeps_it(group):
    """Asked again, nothing moves."""
    answer = RACKS_SERVER.assign(fresh(group))

    again = RACKS_SERVER.assign(rejoining(group, answer.owner))

    assert again.owner.tolist() == answer.owner.tolist()


@given(groups())
def test_counts_are_no_less_even_than_those_of_uniform(group):
    """Sums of squares."""
    if not group.members:
        return
    squares = [
        int((np.bincount(owner[owner != NONE], minlength=1) ** 2).sum())
        for owner in (ASSIGNORS[n].assign(fresh(group)).owner for n in ("racks-server", "uniform"))
    ]

    assert squares[0] <= squares[1]


@pytest.mark.slow
def test_compiled_it_answers_alike():
    """One source, two speeds."""
    racks = {f"m{n}": "abc"[n % 3] for n in range(9)}
    group = spec(
        {m: ["t", "u"] if n % 2 else ["t"] for n, m in enumerate(racks)},
        {"t": 40, "u": 30},
        racks=racks,
        replicas={t: [["abc"[n % 3], "bca"[n % 2]] for n in range(40)] for t in "tu"},
    )
    with held_to(compiled=False):
        plain = RACKS_SERVER.assign(group).owner.tolist()
    with held_to(compiled=True):
        assert RACKS_SERVER.assign(group).owner.tolist() == plain
