"""What past joins and leaves moved, and what they would have moved under another strategy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.advice.past_changes import Membership, memberships, replayed
from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import answering, spec
from tests.helpers.snapshots import group, groups, make_snapshot, member, topic


def _at(
    held: Mapping[str, str],
    partitions: int = 6,
    identities: Mapping[str, str] | None = None,
    static: bool = False,
) -> Membership:
    """Members and the partitions of `t` that each had, say `{"a": "012"}`."""
    owned = {m: [("t", int(p)) for p in numbers] for m, numbers in held.items()}
    known = identities or {}
    one = spec(
        {m: ["t"] for m in held},
        {"t": partitions},
        owned=owned,
        instance_ids={m: known.get(m, m) for m in held} if static else None,
    )
    return Membership(group=one, identities=[known.get(m, m) for m in held])


def _moves(name: str, *past: Membership) -> tuple[int, int]:
    """What moved, and what would have."""
    changes = replayed(answering(ASSIGNORS[name].assign), past)
    return changes.moved, changes.would_move


LEFT = (_at({"a": "01", "b": "23", "c": "45"}), _at({"b": "012", "c": "345"}))


@pytest.mark.parametrize(
    ("name", "would"), [("range", 3), ("sticky", 2), ("cooperative-sticky", 2), ("uniform", 2)]
)
def test_one_left(name, would):
    """What range really moved, a sticky strategy would have moved less of."""
    assert _moves(name, *LEFT) == (3, would)


def test_joins_leaves_and_restarts_are_counted():
    """By id, then by identity; a pair without a change is compared all the same."""
    quiet = _at({"b": "012", "c": "345"})
    back = _at({"b": "012", "c2": "345"}, identities={"c2": "c"})
    more = _at({"b": "01", "c2": "34", "d": "25"}, identities={"c2": "c"})
    changes = replayed(answering(ASSIGNORS["sticky"].assign), [*LEFT, quiet, back, more])

    assert (changes.compared, changes.changed) == (4, 3)
    assert (changes.joins, changes.leaves, changes.restarts) == (1, 1, 1)


def test_what_a_restarted_member_got_back_did_not_move():
    """
    The other one had it for a moment only; a sticky strategy gives back as many, not the same ones: of 0 2 4 and 1 3 5
    it makes 0 1 2 and 3 4 5.
    """
    before = _at({"a": "012", "b": "345"})
    after = _at({"a": "012", "b2": "345"}, identities={"b2": "b"})

    assert _moves("range", before, after) == (0, 0)
    really, would = _moves("sticky", before, after)
    assert (really, would) == (0, 2)


def test_a_static_member_that_restarts_moves_nothing():
    """It reports what it had, under whatever id, and nobody is asked."""
    before = _at({"a": "012", "b": "345"}, static=True)
    after = _at({"a": "012", "z": "345"}, identities={"z": "b"}, static=True)

    for name in ("range", "roundrobin", "sticky", "cooperative-sticky", "uniform"):
        changes = replayed(answering(ASSIGNORS[name].assign), [before, after])
        assert (changes.restarts, changes.would_move) == (1, 0), name


def test_two_that_share_an_identity_are_told_apart_by_their_ids():
    """Two consumers of one client on one host: one stayed, the other restarted."""
    same = {"x1": "x", "x2": "x", "x3": "x"}
    changes = replayed(
        answering(ASSIGNORS["sticky"].assign),
        [
            _at({"x1": "012", "x2": "345"}, identities=same),
            _at({"x1": "012", "x3": "345"}, identities=same),
        ],
    )

    assert (changes.joins, changes.leaves, changes.restarts, changes.moved) == (0, 0, 1, 0)


def test_new_partitions_are_handed_out_and_are_no_move():
    """A topic that grew brings a rebalance; only what had an owner can move."""
    before, after = _at({"a": "01", "b": "23"}, 4), _at({"a": "014", "b": "235"}, 6)

    assert _moves("sticky", before, after) == (0, 0)
    assert _moves("range", before, after) == (0, 1)


def test_everybody_changed_at_once():
    """Nobody stays who could keep anything: all that is assigned again moves."""
    assert _moves("sticky", _at({"a": "012", "b": "345"}), _at({"c": "012", "d": "345"})) == (6, 6)


@pytest.mark.parametrize("count", [0, 1])
def test_without_two_snapshots_nothing_is_compared(count):
    """There is nothing to tell."""
    changes = replayed(answering(ASSIGNORS["range"].assign), LEFT[:count])

    assert (changes.compared, changes.moved, changes.would_move) == (0, 0, 0)


def test_memberships_are_read_from_snapshots_at_rest():
    """Identities as recorded; a snapshot in which the group was rebalancing is passed over."""
    owned = [{"a": [0, 1], "b": [2, 3]}, {"a": [0, 1], "b": [2]}, {"b": [0, 1, 2, 3]}]
    states = ["Stable", "PreparingRebalance", "Stable"]
    snapshots = [
        make_snapshot(
            number=number,
            topics=[topic("t", 4)],
            groups=[
                group(
                    "g",
                    members=[member(m, ["t"], {"t": p}) for m, p in held.items()],
                    group_type="classic",
                    assignor="range",
                    state=state,
                )
            ],
        )
        for number, (held, state) in enumerate(zip(owned, states, strict=True))
    ]
    past = memberships(groups(each)[0] for each in snapshots)

    assert [list(each.identities) for each in past] == [
        ["a@/10.0.0.1", "b@/10.0.0.1"],
        ["b@/10.0.0.1"],
    ]
    changes = replayed(answering(ASSIGNORS["range"].assign), past)
    assert (changes.compared, changes.leaves, changes.moved, changes.would_move) == (1, 1, 2, 2)


MEMBERS = st.lists(st.sampled_from("abcdef"), unique=True, min_size=1)


@given(st.lists(MEMBERS, min_size=1, max_size=5), st.sampled_from(["range", "roundrobin", "fair"]))
def test_a_strategy_without_a_memory_does_what_it_did(histories, name):
    """Replayed on a group that ran it all along, what would have moved is what moved."""
    past = []
    for members in histories:
        bare = spec({m: ["t"] for m in sorted(members)}, {"t": 7})
        owner = ASSIGNORS[name].assign(bare).owner
        held = {m: np.flatnonzero(owner == n).tolist() for n, m in enumerate(bare.members)}
        past.append(_at({m: "".join(map(str, p)) for m, p in held.items()}, 7))
    changes = replayed(answering(ASSIGNORS[name].assign), past)

    assert changes.moved == changes.would_move
