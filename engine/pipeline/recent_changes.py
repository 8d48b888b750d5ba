"""
Changes of a group since a snapshot in which it was healthy, as facts.

Computed only for groups with notifications, from the rows of two snapshots.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from ..config import Settings
from ..messages.wording import member_names
from ..model.errors import LakeError, SnapshotNotFound
from ..model.facts import Fact, note
from ..model.groups import Member
from ..ports import Lake
from ..snapshots.compare import Changed, Difference, compare, group_of

SECOND = 1000
"""Milliseconds."""

NONE_AT_ALL = "none"
"""What there was, or is, nothing of."""


def changed_since(
    lake: Lake, settings: Settings, good_snapshot_id: str | None, snapshot_id: str, group: str
) -> tuple[Fact, ...] | None:
    """
    Changes of a group between two snapshots, likely causes first.

    Args:
        lake: The lake with both snapshots.
        settings: The configuration.
        good_snapshot_id: The last snapshot in which the group was healthy; None if unknown.
        snapshot_id: The current snapshot.
        group: The group.

    Returns:
        Facts, empty without a change; None if a snapshot is missing.
    """
    if good_snapshot_id is None:
        return None
    try:
        difference = compare(lake, settings, good_snapshot_id, snapshot_id, group)
        left = _members(difference, "member_left")
        if difference.present == (True, False):
            last = group_of(lake, settings, good_snapshot_id, group)
            left = last.members if last else ()
    except LakeError:
        return None
    facts = [*_facts(difference, left)]
    # the configuration by which it was judged then; nothing where it was not, or not yet
    with suppress(SnapshotNotFound):
        rows = lake.read(
            "group_metrics", [good_snapshot_id], groups=[group], columns=["config_version"]
        )
        for version in rows["config_version"].to_pylist()[:1]:
            if version not in (None, settings.version):
                facts.append(note("rules_changed", (version[:8], settings.version[:8])))
    return tuple(facts)


def _facts(difference: Difference, left: tuple[Member, ...]) -> Iterator[Fact]:
    going = {
        "members_left": left,
        "members_joined": _members(difference, "member_joined"),
        "members_restarted": _members(difference, "member_restarted"),
    }
    stayed = (each for each in difference.changes if not each.what.startswith("member_"))
    changed = [each.member for each in stayed if each.member is not None]
    names = member_names([*(member for members in going.values() for member in members), *changed])
    if difference.present == (False, True):
        yield note("group_is_new")
    for measure, members in going.items():
        if members:
            yield note(measure, sorted(names[member.id] for member in members))
    for change in difference.changes:
        yield from _of_group(change)
    whose: dict[str, set[str]] = {}
    for change in difference.of(*OF_MEMBERS):
        if change.member is not None:
            whose.setdefault(OF_MEMBERS[change.what], set()).add(names[change.member.id])
    yield from (note(measure, sorted(found)) for measure, found in whose.items())
    if relocated := difference.of("replica_racks"):
        yield note("replica_racks_changed", partitions=len(relocated))
    if given := [each for each in difference.of("owner") if each.after is not None]:
        yield note("owners_changed", partitions=len(given))
    for why in difference.unknown:
        yield note("not_compared", quote=why)


def _members(difference: Difference, what: str) -> tuple[Member, ...]:
    return tuple(each.member for each in difference.of(what) if each.member is not None)


OF_GROUP: Mapping[str, str] = {
    "strategy": "strategy_changed",
    "type": "type_changed",
    "kafka_cluster_id": "kafka_cluster_changed",
    "configured_assignors": "listed_strategies_changed",
    "topology_epoch": "topology_changed",
    "follower_fetching": "follower_fetching_changed",
}
"""What may differ of the group as a whole -> how that is called as a fact; epochs and states change all the time."""


OF_RETENTION = {
    "retention_ms": ("retention_changed", SECOND),
    "retention_bytes": ("retention_bytes_changed", 1),
}
"""What may differ of a topic's retention -> how that is called as a fact, and the unit of its values there."""


def _of_group(change: Changed) -> Iterator[Fact]:
    """What differs of the group as a whole, what happened to a topic, and what it is configured to."""
    both = tuple(_text(value) for value in (change.before, change.after))
    if change.what == "strategy" and None in (change.before, change.after):
        return  # nobody was there, or is
    if change.what in OF_GROUP:
        yield note(OF_GROUP[change.what], both)
    elif change.what in OF_TOPIC:
        counts = {"before": change.before, "after": change.after}
        yield note(OF_TOPIC[change.what], (str(change.topic),), **counts)
    elif change.what == "cleanup_policy":
        yield note("cleanup_policy_changed", (str(change.topic), *both))
    elif change.what in OF_RETENTION:
        measure, unit = OF_RETENTION[change.what]
        # None: unlimited
        limits = (None if limit < 0 else limit / unit for limit in (change.before, change.after))
        before, after = limits
        yield note(measure, (str(change.topic),), before=before, after=after)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_text(each)}" for key, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return NONE_AT_ALL if value is None else str(value)


OF_TOPIC: Mapping[str, str] = {
    "topic_created": "topic_created",
    "topic_gone": "topic_gone",
    "topic_recreated": "topic_recreated",
    "topic_partitions_added": "partitions_added",
    "topic_subscribed": "topic_subscribed",
    "topic_unsubscribed": "topic_unsubscribed",
}
"""What may happen to a topic -> how that is called as a fact."""


OF_MEMBERS: Mapping[str, str] = {
    "subscription": "subscriptions_changed",
    "subscription_regex": "subscriptions_changed",
    "rack": "member_racks_changed",
    "kind": "member_protocols_changed",
}
"""What may differ of a member that stayed -> how that is called as a fact; what it warms up changes all the time."""
