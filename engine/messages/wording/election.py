"""An election in words: why it had its outcome, and what is not known of it."""

from __future__ import annotations

from collections.abc import Mapping

from ...assignors.kafka.election import Poll
from .clauses import Clause


def why_elected(poll: Poll) -> str:
    """
    Why lists elect what they elect, as a clause.

    >>> from evenkeel.engine.assignors.kafka.election import poll
    >>> why_elected(poll({("sticky", "range"): 1, ("range", "sticky"): 1}))
    "sticky and range have 1 of 2 votes each; the first in Java's HashMap order wins a tie"
    """
    if poll.elected is None:
        return "the group has no members"
    others = [name for name in poll.candidates if name != poll.elected]
    if not others:
        return "the only one that all members list"
    count, total = poll.votes[poll.elected], sum(poll.votes.values())
    if count == total:
        return f"every member prefers it to {', '.join(others)}"
    if poll.tied:
        names = f"{', '.join(poll.tied[:-1])} and {poll.tied[-1]}"
        return f"{names} have {count} of {total} votes each; the first in Java's HashMap order wins a tie"
    rest = ", ".join(f"{name} {n}" for name, n in poll.votes.items() if name != poll.elected)
    return f"it has {count} of {total} votes, {rest}"


CLAUSES: Mapping[str, Clause] = {
    "elects_nothing": lambda f: (
        "a KIP-848 group: it elects nothing and has no leader, its broker assigns"
        + (f" by {f.subjects[0]}" if f.subjects else "")
    ),
    "elected_untold": "rebalancing ({first}): Kafka doesn't report the elected strategy until it is done",
    "lists_untold": (
        "Kafka doesn't report the strategies that members list: set --assignors, or assignors in evenkeel.toml"
    ),
    "lists_of_some_unknown": (
        "the lists of {after} of {bound} members are not known: no pattern matches them"
    ),
    "assignor_not_emulated": "{first} is not emulated",
    "unknown_assignor": "{first} is not a known strategy; its name is used unchanged",
    "eager_beside_cooperative": (
        "{after} of {bound} members list eager strategies with {first}: as Java clients they revoke all partitions in"
        " each rebalance"
    ),
    "no_way": lambda f: f.quote or f"there are no steps to {f.subjects[0]} for this group.",
    "no_way_planned": "the steps to {first} are not known while the current strategy is unknown.",
}
