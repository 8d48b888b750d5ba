"""
What members send to their leader, and what the leader believes of it: docs/reference/plan-format.md.

Everything here was written by other members: whatever does not read is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from . import plan
from .plan import TopicPartition
from .rule import Present
from .user_data import addresses_of, object_told

_UUID = re.compile(r"-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


@dataclass(frozen=True, kw_only=True)
class Seen:
    """
    What the leader knows of a member.

    Attributes:
        present: It, as the rule takes it; of one that has given up or lost all, `owned` is what it had.
        generation: In which it got what it owns; -1 unknown.
        cooperative: Whether it still owns that.
        token: What it wants to be given back; None: nothing.
    """

    present: Present
    generation: int
    cooperative: bool
    token: str | None

    @property
    def rank(self) -> tuple[bool, int]:
        """The larger, the more its claim counts."""
        return self.cooperative, self.generation


def seen_of(member: Any) -> Seen:
    """A member as the leader sees it; what it claims under another id it has lost since, and only had."""
    subscription, member_id = member.metadata, member.member_id
    sent = object_told(subscription.user_data)
    owned = [
        (part.topic, number)
        for part in subscription.owned_partitions or ()
        for number in part.partitions
    ]
    told = sent.get("had")
    had = [
        (topic, number)
        for topic, own in (told.items() if isinstance(told, dict) else ())
        for number in (own if isinstance(own, list) else ())
        if isinstance(number, int)
    ]
    under = text_in(sent, "member_id")
    lost = under is not None and under != member_id
    static = member.group_instance_id or None
    present = Present(
        member_id=member_id,
        topics=tuple(subscription.topics),
        instance_id=static,
        client_id=None if static else _UUID.sub("", member_id),
        addresses=addresses_of(subscription.user_data),
        owned=tuple(dict.fromkeys(owned or had)),
    )
    return Seen(
        present=present,
        generation=subscription.generation_id,
        cooperative="had" not in sent and not lost,
        token=text_in(sent, "token"),
    )


def believed(seen: Sequence[Seen]) -> list[Seen]:
    """The same members; of several that claim a partition the newest generation does, and who owns before who had."""
    newest: dict[TopicPartition, tuple[bool, int]] = {}
    for member in seen:
        for pair in member.present.owned:
            newest[pair] = max(member.rank, newest.get(pair, member.rank))
    believable = []
    for member in seen:
        owned = tuple(pair for pair in member.present.owned if newest[pair] == member.rank)
        believable.append(replace(member, present=replace(member.present, owned=owned)))
    return believable


def by_topic(pairs: Collection[TopicPartition]) -> list[tuple[str, list[int]]]:
    """(topic, partitions), both ascending."""
    return [(topic, list(own)) for topic, own in plan.by_topic(sorted(pairs)).items()]


def text_in(sent: Mapping[str, Any], key: str) -> str | None:
    """What is told under a key, if it is text."""
    found = sent.get(key)
    return found if isinstance(found, str) else None
