"""
A random subscriber for each partition, the same every time: the sample of a custom strategy.

Promises:

1. Each partition is drawn by itself, each subscriber of its topic as likely as any other.
2. The draw depends on the seed, the topic's name, the partition's number and who subscribes, on
   nothing else: neither on the order of the input nor on other topics.

Nothing is even about it:

>>> from evenkeel.engine.assignors.interface import spec
>>> group = spec({"C0": ["t"], "C1": ["t"]}, {"t": 6})
>>> for member, owned in group.lists(Random(seed=1).assign(group)).items():
...     print(member, owned)
C0 [('t', 0), ('t', 1), ('t', 2), ('t', 3), ('t', 4)]
C1 [('t', 5)]

Cost: O(partitions + subscriptions), in arrays, and one hash per topic. Source: the example of
a custom assignor in the article that `tests/unit/sources/test_article_zh.py` follows, which asks an
unseeded generator for each partition and so never answers the same twice.

What it does not do: it promises no balance, and advice never picks it. It is here to be copied: a
strategy is a class with five facts about it and one function of the group.
"""

from __future__ import annotations

import hashlib
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..model.arrays import NONE
from ..model.assignments import Assignment, Deployment
from ..model.facts import reason
from .interface import USUAL_PROMISES, Answers, GroupSpec, Promise
from .kit.members import subscribers_by_id
from .kit.why import Steps

Words = npt.NDArray[np.uint64]


class Random:
    """A seeded draw for each partition."""

    name: ClassVar[str] = "random"
    works_on: ClassVar[frozenset[str]] = frozenset({"partitions"})
    needs: ClassVar[frozenset[str]] = frozenset()
    deployment: ClassVar[Deployment] = Deployment.NEVER
    source: ClassVar[str] = "ours, after the RandomAssignor of an article"
    promises: ClassVar[frozenset[Promise]] = USUAL_PROMISES

    def __init__(self, seed: int = 0) -> None:
        """
        Args:
            seed: Another seed, another assignment.
        """
        self.seed = seed

    def assign(self, group: GroupSpec) -> Assignment:
        """
        Returns:
            An owner for each partition of a subscribed topic; a group without members owns nothing.
        """
        return self.assign_many(group).one()

    def assign_many(self, groups: GroupSpec) -> Answers:
        """As `assign`, for each of many groups."""
        subscribers, topic = subscribers_by_id(groups), groups.topic_of
        count = subscribers.count[topic]
        drawn = _draws(self._topic_words(groups)[topic], groups.number_of.astype(np.uint64))
        turn = (drawn % np.maximum(count, 1).astype(np.uint64)).astype(np.int64)
        members = np.append(subscribers.member, np.int32(NONE))  # what an unsubscribed topic reads
        pair = np.where(count > 0, subscribers.start[topic] + turn, -1)
        return Answers(assignment=Assignment(owner=members[pair]))

    def explain(self, group: GroupSpec, partition: int) -> Steps:
        """That it is drawn, and among how many."""
        owner, topic = int(self.assign(group).owner[partition]), int(group.topic_of[partition])
        among = len(group.subscribers[topic])
        return (
            (reason("why_drawn", [group.members[owner]], after=self.seed, bound=among),)
            if among
            else ()
        )

    def _topic_words(self, group: GroupSpec) -> Words:
        """(T) a word made of the seed and the topic's name."""
        texts = [f"{self.seed}/{name}".encode("utf-8", "surrogatepass") for name in group.topics]
        words = [hashlib.blake2b(text, digest_size=8).digest() for text in texts]
        return np.frombuffer(b"".join(words), "<u8").astype(np.uint64)


def _draws(words: Words, numbers: Words) -> Words:
    """
    A random word per partition: the finalizer of SplitMix64 (Steele, Lea and Flood, 2014), whose state steps by the
    golden ratio from one partition to the next.
    """
    state = words + (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    drawn: Words = state ^ (state >> np.uint64(31))
    return drawn
