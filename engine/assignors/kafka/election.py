"""
Which strategy a classic group elects, whom it refuses, who leads, and who would lead next.

Promises, in the order in which the coordinator keeps them:

1. A member is let in when its list shares a protocol with the lists of *all* members before it;
   else it is refused (INCONSISTENT_GROUP_PROTOCOL). The first one only needs a list.
2. Candidates are the protocols that all members list.
3. Each member votes for the first candidate in its own list. Most votes win; of equal ones, the
   first in the order of a Java `HashMap` of the names that got votes.
4. The first to join leads. When the leader leaves, the first key of the members' `HashMap` does.

>>> election = elect({"c1": ["range", "cooperative-sticky"], "c2": ["range"], "c3": ["sticky"]})
>>> election.elected, dict(election.votes), dict(election.refused)
('range', {'range': 2}, {'c3': ('range',)})
>>> election.leader, election.next_leader("c1")
('c1', 'c2')

Cost: members x length of a list. Source: `ClassicGroup` of Kafka 4.3, which gave the same answers
to random groups. Some descriptions take for a candidate what *any* member lists, and let a member
that lacks the winner fail later; such a member is refused when it joins.

What it does not do: a leader that is too slow to rejoin is replaced by the first key *that has
rejoined*, and who that will be cannot be known. A `HashMap` never shrinks: after a group has lost
many members its order can differ, so hand in the order that the broker tells, if it did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ...model.errors import InputError
from ..kit.java_order import map_order
from .protocol_names import wire_names

REFUSED = "INCONSISTENT_GROUP_PROTOCOL"
"""What the coordinator tells a member whose list shares nothing with everybody else's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Poll:
    """
    What given lists elect.

    Attributes:
        elected: The winner; None without any list.
        candidates: What all lists have, in the order of the first list.
        votes: Per candidate that got any, in the order that decides a tie.
    """

    elected: str | None
    candidates: tuple[str, ...]
    votes: Mapping[str, int]

    @property
    def tied(self) -> tuple[str, ...]:
        """All with as many votes as the winner; nothing when it won alone."""
        most = max(self.votes.values(), default=0)
        best = tuple(name for name, count in self.votes.items() if count == most)
        return best if len(best) > 1 else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Election:
    """
    How a group came to its strategy.

    Attributes:
        poll: What the members that were let in elect.
        lists: Member -> its list by wire names, of those let in, in the order they joined.
        ballots: Member -> the candidate it votes for, likewise.
        refused: Member -> what all members before it had in common, of those not let in.
        leader: The first to join; None when nobody was let in.
        coordinator_order: The members in the order of the coordinator's map.
    """

    poll: Poll
    lists: Mapping[str, tuple[str, ...]]
    ballots: Mapping[str, str]
    refused: Mapping[str, tuple[str, ...]]
    leader: str | None
    coordinator_order: tuple[str, ...]

    @property
    def elected(self) -> str | None:
        """The winner by its wire name."""
        return self.poll.elected

    @property
    def votes(self) -> Mapping[str, int]:
        """Votes per candidate that got any."""
        return self.poll.votes

    def next_leader(self, leader: str | None) -> str | None:
        """Who leads once that leader has left; None when nobody else is there."""
        return next((member for member in self.coordinator_order if member != leader), None)


def elect(
    lists: Mapping[str, Sequence[str]], coordinator_order: Sequence[str] | None = None
) -> Election:
    """
    Hold the election.

    Args:
        lists: Member id -> what it lists, most preferred first, in the order in which they join.
        coordinator_order: The members in the order in which the broker lists them, if it was asked; else it is
            that of a `HashMap` that took them one by one.

    Raises:
        InputError: A list names one strategy twice, or an empty name.
    """
    admitted: dict[str, tuple[str, ...]] = {}
    refused: dict[str, tuple[str, ...]] = {}
    so_far: tuple[str, ...] | None = None
    for member, names in _by_wire(lists).items():
        shared = names if so_far is None else tuple(name for name in so_far if name in names)
        if shared:
            admitted[member], so_far = names, shared
        else:
            refused[member] = so_far or ()
    ids = list(admitted)
    order = (
        [m for m in coordinator_order if m in admitted]
        if coordinator_order
        else [ids[i] for i in map_order(ids)]
    )
    found = poll(Counter(admitted[member] for member in order))
    allowed = set(found.candidates)
    votes = {names: _vote(names, allowed) for names in set(admitted.values())}
    return Election(
        poll=found,
        lists=admitted,
        ballots={member: votes[names] for member, names in admitted.items()},
        refused=refused,
        leader=ids[0] if ids else None,
        coordinator_order=tuple(order),
    )


def _by_wire(lists: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Each member's list by wire names; equal lists, as most groups have them, are read once."""
    read: dict[tuple[str, ...], tuple[str, ...]] = {}
    for member, listed in lists.items():
        written = tuple(listed)
        if written in read:
            continue
        try:
            read[written] = wire_names(written)
        except InputError as problem:
            raise InputError(f"member {member!r}: {problem.message}", fix=problem.fix) from None
    return {member: read[tuple(listed)] for member, listed in lists.items()}


def poll(lists: Mapping[tuple[str, ...], int]) -> Poll:
    """
    What lists elect, each given with how many members have it.

    Args:
        lists: In the order in which the coordinator holds them, which tells only where two names
            share a bucket.

    >>> poll({("range", "sticky"): 2, ("sticky", "range"): 3, ("sticky", "range", "fair"): 1}).votes
    {'sticky': 4, 'range': 2}
    """
    candidates = common(lists)
    if not candidates:
        return Poll(elected=None, candidates=(), votes={})
    allowed, votes = set(candidates), Counter[str]()
    for names, members in lists.items():
        votes[_vote(names, allowed)] += members
    voted = list(votes)
    order = map_order(voted).tolist() if len(voted) > 1 else [0]
    ordered = {voted[i]: votes[voted[i]] for i in order}
    return Poll(elected=max(ordered, key=ordered.__getitem__), candidates=candidates, votes=ordered)


def common(lists: Collection[tuple[str, ...]]) -> tuple[str, ...]:
    """
    What all lists have, in the order of the first; nothing without a list.

    >>> common([("range", "sticky"), ("sticky", "fair", "range")])
    ('range', 'sticky')
    """
    first, *others = lists or [()]
    return tuple(name for name in first if all(name in other for other in others))


def _vote(listed: tuple[str, ...], candidates: set[str]) -> str:
    return next(name for name in listed if name in candidates)
