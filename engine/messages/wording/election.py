"""What is said of an election: why it went as it did, and what is not known of it."""

from __future__ import annotations

from collections.abc import Mapping

from ...assignors.kafka.election import Poll
from ...model.facts import Fact
from .clauses import Clause, whole


def why_elected(poll: Poll) -> str:
    """
    Why lists elect what they elect, as a clause.

    >>> from evenkeel.engine.assignors.kafka.election import poll
    >>> why_elected(poll({("sticky", "range"): 1, ("range", "sticky"): 1}))
    "sticky and range have 1 of 2 votes each; the first in Java's HashMap order wins a tie"
    """
    if poll.elected is None:
        return "nobody is in the group"
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


def _by_broker(fact: Fact) -> str:
    by = f" by {fact.subjects[0]}" if fact.subjects else ""
    return f"a KIP-848 group: it elects nothing and has no leader, its broker assigns{by}"


def _some_unknown(fact: Fact) -> str:
    some = f"{whole(fact.after)} of {whole(fact.bound)} members"
    return f"what {some} list is not known: no pattern fits them"


def _some_eager(fact: Fact) -> str:
    return (
        f"{whole(fact.after)} of {whole(fact.bound)} members list eager strategies beside {fact.subjects[0]}: as Java"
        " clients they give everything up at each rebalance"
    )


CLAUSES: Mapping[str, Clause] = {
    "elects_nothing": _by_broker,
    "elected_untold": lambda f: (
        f"rebalancing ({f.subjects[0]}): what it has elected is not told meanwhile"
    ),
    "lists_untold": lambda _: (
        "what members list is not on the wire: give --assignors, or assignors in evenkeel.toml"
    ),
    "lists_of_some_unknown": _some_unknown,
    "assignor_not_emulated": lambda f: f"{f.subjects[0]} is not emulated",
    "unknown_assignor": lambda f: (
        f"{f.subjects[0]} is none of the known ones, it is taken as it is"
    ),
    "eager_beside_cooperative": _some_eager,
    "no_way": lambda f: f.quote or f"there is no way to {f.subjects[0]} for it.",
    "no_way_planned": lambda f: (
        f"no way to {f.subjects[0]} is planned while it is not known what it runs."
    ),
}
"""Each remark in words."""
