"""
Whether a general plan is balanced, as Kafka sees it.

It is when no two members that take part are more than one apart, or when nobody could take a partition over from
somebody with at least two more. Whoever holds as many as Kafka takes for the most it can have is not asked. To show
that a plan is *not* balanced, one witness will do, a member and a partition; only when the last one no longer holds is
another searched for, in all topics at once. Source: `isBalanced` of Kafka 4.3, whose answer this always is.
"""

from __future__ import annotations

import numpy as np

from evenkeel.engine.kit.orders import places
from evenkeel.engine.kit.sticky.current_assignment import Holdings
from evenkeel.engine.kit.sticky.owned import Past
from evenkeel.engine.kit.sticky.participants import Scope
from evenkeel.engine.model import Ints

FAR = 1 << 40
"""More than any member can hold."""


class Balance:
    """Answers from the present state of the holdings."""

    def __init__(self, holdings: Holdings, past: Past, scope: Scope, most: Ints) -> None:
        """
        Args:
            holdings: The state, changed by others.
            past: What members say they own.
            scope: What takes part.
            most: (M) what Kafka takes for the most each member can have.
        """
        self._holdings, self._past, self._scope, self._most = holdings, past, scope, most
        self._walked = places(past.walk)
        self._witness: tuple[int, int] | None = None
        self._starts = np.searchsorted(
            scope.place[past.topic[scope.partitions]], np.arange(len(scope.strained))
        )

    def reached(self, member: int, partition: int) -> bool:
        """
        Whether the plan is balanced.

        Args:
            member, partition: A likely witness that it is not: a subscriber of the partition's topic.
        """
        if self._shows(member, partition):
            self._witness = member, partition
        elif self._witness is None or not self._shows(*self._witness):
            self._witness = self._search()
        return self._witness is None

    def _shows(self, member: int, partition: int) -> bool:
        """Whether the member could take the partition over from somebody with two more."""
        size = self._holdings.size
        least = size[member] + 1
        return bool(
            size[self._holder(partition)] > least
            and size[member] != self._most[member]
            and not self._scope.aside[member]
            and not self._has(member, partition)
        )

    def _has(self, member: int, partition: int) -> bool:
        copied = self._holdings.copies.get(partition)
        return member in (copied, self._holdings.owner[partition])

    def _holder(self, partition: int) -> int:
        """Whom Kafka takes for the owner: of two with a copy, the later on its walk."""
        owner = int(self._holdings.owner[partition])
        copied = self._holdings.copies.get(partition, owner)
        return max(owner, copied, key=self._walked.__getitem__)

    def _search(self) -> tuple[int, int] | None:
        """Any witness, None without one."""
        size, scope = self._holdings.size, self._scope
        taking_part = size[~scope.aside]
        if int(taking_part.max()) - int(taking_part.min()) <= 1:
            return None
        asked = np.where(scope.aside | (size == self._most), FAR, size)
        least = np.minimum.reduceat(asked[scope.subscriber], scope.start[:-1])
        owner = self._holdings.owner.copy()
        for partition in self._holdings.copies:
            owner[partition] = self._holder(partition)
        largest = np.maximum.reduceat(size[owner[scope.partitions]], self._starts)
        for topic in np.flatnonzero(largest > least + 1).tolist():
            if witness := self._search_topic(topic, asked):
                return witness
        return None

    def _search_topic(self, topic: int, asked: Ints) -> tuple[int, int] | None:
        """A witness within one topic, None without one; *asked* are the sizes of those who are asked."""
        subscribers = self._scope.among(topic)
        members = subscribers[np.argsort(asked[subscribers], kind="stable")].tolist()
        ends = np.append(self._starts, len(self._scope.partitions))
        partitions = self._scope.partitions[ends[topic] : ends[topic + 1]]
        sizes = self._holdings.size[[self._holder(p) for p in partitions.tolist()]]
        for at in np.argsort(-sizes, kind="stable").tolist():
            partition = int(partitions[at])
            for member in members:
                if asked[member] + 1 >= sizes[at]:
                    break
                if not self._has(member, partition):
                    return member, partition
        return None
