"""What changed of a group since it was well, as facts."""

from __future__ import annotations

from typing import Any

import pytest

from evenkeel.engine import wiring
from evenkeel.engine.config import Settings
from evenkeel.engine.messages.wording import words
from evenkeel.engine.messages.wording.changes import CLAUSES
from evenkeel.engine.model.cluster_snapshot import ClusterSnapshot
from evenkeel.engine.model.facts import Fact
from evenkeel.engine.pipeline.measure import compute_metrics
from evenkeel.engine.pipeline.recent_changes import OF_GROUP, OF_MEMBERS, OF_TOPIC, changed_since
from evenkeel.engine.ports import Lake
from tests.helpers.snapshots import group, make_snapshot, member, store, topic

UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"


def _members(*names: str, **columns: Any) -> list[dict[str, Any]]:
    return [
        member(f"{name}-{UUID}", ["orders"], {"orders": [p]}, client_id=name, **columns)
        for p, name in enumerate(names)
    ]


def _snapshot(
    number: int, members: list[dict[str, Any]] | None, partitions: int = 4, **columns: Any
) -> ClusterSnapshot:
    groups = [group("other", members=1)]
    if members is not None:
        groups.append(group("app", members=members, **columns))
    return make_snapshot(number=number, topics=[topic("orders", partitions)], groups=groups)


def _stored(*snapshots: ClusterSnapshot) -> Lake:
    lake = wiring.scratch()
    store(lake, *snapshots)
    return lake


def _changed(before: ClusterSnapshot, after: ClusterSnapshot) -> tuple[Fact, ...] | None:
    lake = _stored(before, after)
    return changed_since(lake, Settings(), before.snapshot_id, after.snapshot_id, "app")


def test_without_a_good_snapshot_nothing_is_known() -> None:
    """A group that was never well, or whose good snapshot is gone, has an unknown past."""
    after = _snapshot(1, _members("a"))
    lake = _stored(after)
    assert changed_since(lake, Settings(), None, after.snapshot_id, "app") is None
    gone = _snapshot(0, None).snapshot_id
    assert changed_since(lake, Settings(), gone, after.snapshot_id, "app") is None


BY_RANGE = _snapshot(0, _members("a"), assignor="range")
TWO = _snapshot(0, _members("a", "b"), assignor="range")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        pytest.param(_snapshot(0, _members("a")), _snapshot(1, _members("a")), [], id="nothing"),
        pytest.param(
            _snapshot(0, _members("a", "b")),
            _snapshot(1, _members("a", "c")),
            ["b left", "c joined", "owner of 1 partition changed"],
            id="members, by their client ids; what changed hands is counted",
        ),
        pytest.param(
            BY_RANGE,
            _snapshot(1, _members("a"), partitions=6, assignor="roundrobin"),
            ["strategy range -> roundrobin", "topic orders 4 -> 6 partitions"],
            id="what somebody changed on purpose",
        ),
        # that there is no strategy and no owner then follows, and is no change of its own
        pytest.param(TWO, _snapshot(1, [], assignor=None), ["a, b left"], id="nobody is left"),
        pytest.param(TWO, _snapshot(1, None), ["a, b left"], id="it is gone: its last members"),
    ],
)
def test_what_changed_is_told(
    before: ClusterSnapshot, after: ClusterSnapshot, told: list[str]
) -> None:
    """What may have led to trouble, once; where nothing did, that is known."""
    facts = _changed(before, after)
    assert facts is not None
    assert [words(fact) for fact in facts] == told


def test_what_cannot_be_compared_is_told_as_unknown() -> None:
    """A group in a rebalance tells its members only: that is said, and is no change."""
    after = _snapshot(1, _members("a"), state="PreparingRebalance")
    facts = _changed(_snapshot(0, _members("a")), after)
    assert facts is not None
    assert any(words(one).startswith("not known: the group was rebalancing") for one in facts)


def test_another_configuration_is_told() -> None:
    """By which rules a group was judged then is known from its metrics."""
    before, after = _snapshot(0, _members("a")), _snapshot(1, _members("a"))
    lake = _stored(before, after)
    by_others = compute_metrics(lake, Settings(lookback=3), before.snapshot_id)
    lake.write("metrics", before.snapshot_id, by_others, {})

    found = changed_since(lake, Settings(), before.snapshot_id, after.snapshot_id, "app")
    assert found is not None
    assert [fact.measure for fact in found] == ["rules_changed"]


def test_every_change_has_words() -> None:
    """No change is shown by its name only."""
    assert {*OF_GROUP.values(), *OF_TOPIC.values(), *OF_MEMBERS.values()} <= set(CLAUSES)
