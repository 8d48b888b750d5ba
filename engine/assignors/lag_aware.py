"""
KIP-169's lag-aware: topic by topic equal counts first, then the longest lag to who has least of it.

Promises, the first before the second:

1. Per topic, its subscribers own equally many partitions, give or take one. So nobody with two fewer
   could take a partition of somebody else's: KIP-54's predicate, topic by topic.
2. The partitions of a topic are dealt by falling lag, then by number; each goes to the subscriber
   with fewest partitions of this topic, of those to the one with the least total lag of this topic,
   of those to the first by member id.

The KIP's own example; range and round robin leave one member 150,000 behind or more:

>>> from evenkeel.engine.assignors.interface import spec
>>> group = spec({"c0": ["t0"], "c1": ["t0"]}, {"t0": 3}, lags={"t0": [100_000, 60_000, 50_000]})
>>> for member, owned in group.lists(LagAware().assign(group)).items():
...     print(member, owned)
c0 [('t0', 0)]
c1 [('t0', 1), ('t0', 2)]

Lag is that of strategies (`docs/reference/metrics.md`): a partition without commit counts by the group's
`auto.offset.reset`, else as latest. Where a lag is unknown, because an end or a commit could not be
read, the answer is `Infeasible`; the prototype takes 0 there.

Cost: O(partitions x log partitions + subscriptions), in arrays, round by round of all topics; rounds of
few subscribers in plain steps of less than a microsecond per partition. Source: KIP-169, its ties broken
as in its prototype, `LagBasedPartitionAssignor` 2.0.0.

What it does not do: it looks at no rack and no past ownership, although the KIP speaks of
reassignment. It never evens out over topics: of many small topics the first member by id gets the
longest lag each time. It is greedy, so a more even lag under the same counts may exist.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..model.arrays import NONE, Ints, ragged_entries
from ..model.assignments import Assignment, Deployment
from ..model.facts import reason
from .interface import USUAL_PROMISES, Answers, GroupSpec, Promise
from .kit.members import Subscribers, members_by_id, subscribers_by_id, unknown_lags
from .kit.orders import order_within, stable_order
from .kit.why import Steps, names_of


class LagAware:
    """KIP-169's `lag-aware`."""

    name: ClassVar[str] = "lag-aware"
    works_on: ClassVar[frozenset[str]] = frozenset({"partitions"})
    needs: ClassVar[frozenset[str]] = frozenset({"lag"})
    deployment: ClassVar[Deployment] = Deployment.CLASS
    source: ClassVar[str] = "KIP-169"
    promises: ClassVar[frozenset[Promise]] = USUAL_PROMISES | {Promise.EVEN_TOPICS}

    def assign(self, group: GroupSpec) -> Assignment:
        """
        Returns:
            An owner for each partition of a subscribed topic; a group without members owns nothing.

        Raises:
            Infeasible: The lag of a partition of a subscribed topic is unknown.
        """
        return self.assign_many(group).one()

    def assign_many(self, groups: GroupSpec) -> Answers:
        """As `assign`, for each of many groups."""
        subscribers = subscribers_by_id(groups)
        problems = unknown_lags(groups, subscribers, self.name)
        members = np.append(subscribers.member, np.int32(NONE))  # slot NONE reads the last entry
        owner = members[_deal(groups, subscribers)]
        if problems:
            owner[np.isin(groups.group_of, list(problems))] = NONE
        return Answers(assignment=Assignment(owner=owner), problems=problems)

    def explain(self, group: GroupSpec, partition: int) -> Steps:
        """Its rank by lag in its topic, and who has fewest partitions of it, and of these least lag, by then."""
        topic = int(group.topic_of[partition])
        may = set(group.subscribers[topic].tolist())
        if not may:
            return ()
        lags, owner = group.lag.values, self.assign(group).owner
        falling = sorted(group.partitions_of(topic), key=lambda p: -lags[p])
        rank = falling.index(partition)
        had, lag = dict.fromkeys(may, 0), dict.fromkeys(may, 0)
        for one in falling[:rank]:
            had[int(owner[one])] += 1
            lag[int(owner[one])] += int(lags[one])
        by_id = [m for m in members_by_id(group).tolist() if m in may]
        fewest = [m for m in by_id if had[m] == min(had.values())]
        least = [m for m in fewest if lag[m] == min(lag[each] for each in fewest)]
        return (
            reason(
                "why_lag_dealt_as",
                [group.topics[topic]],
                before=int(lags[partition]),
                after=rank + 1,
                bound=len(falling),
            ),
            reason("why_fewest_of_topic", names_of(group, fewest), after=had[fewest[0]]),
            *(
                [reason("why_least_lag", names_of(group, least), after=lag[least[0]])]
                if len(fewest) > 1
                else []
            ),
        )


def _deal(group: GroupSpec, subscribers: Subscribers) -> Ints:
    """(P) the pair of *subscribers* that gets each partition, NONE where nobody subscribes."""
    topic, count = group.topic_of, subscribers.count
    lags = group.lag.filled(0)
    falling = order_within(topic, -lags)  # equal lags by number
    lags = lags[falling]
    turn, place = np.divmod(group.number_of, np.maximum(count, 1)[topic])
    taker = np.where((count > 0)[topic], subscribers.start[topic] + place, NONE)
    first = (turn == 0) & (taker != NONE)
    total = np.zeros(len(subscribers.member), np.int64)
    total[taker[first]] = lags[first]
    left = np.flatnonzero((turn > 0) & (taker != NONE))
    left = left[stable_order(turn[left])]
    for of_turn in np.split(left, np.cumsum(np.bincount(turn[left] - 1))[:-1]):
        begins = place[of_turn] == 0
        topics = topic[of_turn[begins]]
        start, pairs = ragged_entries(subscribers.start, topics)
        if len(pairs) < FEW:
            for begin, which in zip(of_turn[begins].tolist(), topics.tolist(), strict=True):
                span = slice(begin, int(group.topic_start[which + 1]))
                who = slice(*subscribers.start[which : which + 2].tolist())
                taker[span] = who.start + np.array(_turns(lags[span].tolist(), total[who].tolist()))
            break
        ring = pairs[order_within(subscribers.topic[pairs], total[pairs])]
        taker[of_turn] = ring[start[np.cumsum(begins) - 1] + place[of_turn]]
        total[taker[of_turn]] += lags[of_turn]
    slot = np.empty_like(taker)
    slot[falling] = taker
    return slot


FEW = 200
"""Fewer subscribers than this are sorted in plain steps, sooner than arrays get started."""


def _turns(lags: list[int], total: list[int]) -> list[int]:
    """
    Which subscriber takes each of a topic's partitions.

    Within a round each of them takes one, those with the least lag first: who has taken one has more
    partitions than who has not. So a round's order is known when it begins.

    Args:
        lags: Offsets, falling.
        total: The lag that each subscriber has, in the order of their ids; counted.

    >>> _turns([9, 5, 4, 2, 2], [0, 0])
    [0, 1, 1, 0, 1]
    """
    turns: list[int] = []
    for begin in range(0, len(lags), len(total)):
        taken = lags[begin : begin + len(total)]
        ring = sorted(range(len(total)), key=total.__getitem__)[: len(taken)]
        turns += ring
        for who, lag in zip(ring, taken, strict=True):
            total[who] += lag
    return turns
