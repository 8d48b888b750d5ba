"""What became of a group's members since the snapshot before, as `compute_metrics` keeps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evenkeel.engine.config import Rule
from evenkeel.engine.datasets import groups_of
from evenkeel.engine.model import GroupSnapshot
from evenkeel.engine.records import MembershipChange
from evenkeel.engine.steps.past import membership_change
from evenkeel.engine.steps.reading import BatchWithPast
from tests.helpers.snapshots import group, make_snapshot, member, topic


def _at(number: int, held: Mapping[str, Sequence[int]], state: str = "Stable") -> GroupSnapshot:
    snapshot = make_snapshot(
        number=number,
        topics=[topic("t", 6)],
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
    (one,) = groups_of(snapshot.tables, snapshot.started_at)
    return one


def _change(now: GroupSnapshot, *earlier: GroupSnapshot) -> MembershipChange | None:
    """The newest of *earlier* first."""
    one = BatchWithPast.of(now, earlier)
    return membership_change(one.batch, 0, one.earlier, Rule())


THREE = {"a": [0, 1], "b": [2, 3], "c": [4, 5]}
TWO = {"b": [0, 1, 2], "c": [3, 4, 5]}


def test_who_left_and_what_each_strategy_would_have_moved() -> None:
    """range moved three partitions, sticky would have moved the two of the member that left."""
    change = _change(_at(1, TWO), _at(0, THREE))

    assert change is not None
    assert (change.members_joined, change.members_left, change.members_restarted) == (0, 1, 0)
    assert change.partitions_moved == 3
    by_strategy = {one.strategy: one.moves for one in change.would_have_moved or ()}
    assert (by_strategy["range"], by_strategy["sticky"]) == (3, 2)
    assert "lag-aware" not in by_strategy
    assert "live" not in by_strategy


def test_a_rebalance_in_between_is_passed_over() -> None:
    """Members are compared with the last snapshot at rest; in the one that rebalances nothing is said."""
    moving = _at(1, {"b": []}, "PreparingRebalance")

    assert _change(moving, _at(0, THREE)) is None
    change = _change(_at(2, TWO), moving, _at(0, THREE))
    assert change is not None
    assert change.members_left == 1


def test_the_same_members_changed_nothing() -> None:
    """That is known, and not the same as unknown; without an earlier snapshot it is unknown."""
    same = _change(_at(1, THREE), _at(0, THREE))

    assert same is not None
    assert (same.members_joined, same.partitions_moved, same.would_have_moved) == (0, 0, None)
    assert _change(_at(0, THREE)) is None
