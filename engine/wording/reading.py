"""What could not be read of a cluster."""

from __future__ import annotations

from collections.abc import Mapping

from evenkeel.engine.facts import Fact
from evenkeel.engine.text import and_more, does, listed
from evenkeel.engine.wording.clauses import Clause

_PARTITIONS = 5
"""Partitions named of those that could not be read for one cause."""


def _leaderless(fact: Fact) -> str:
    offsets = fact.subjects[0]
    few = does(fact.partitions or 0, "partition", f"of {offsets} has", f"of {offsets} have")
    return f"{few} no leader: the groups there are missing"


def _some(fact: Fact) -> str:
    names = fact.subjects[:_PARTITIONS]
    left = len(fact.subjects) - len(names) + fact.more
    return f"partition {listed(names, _PARTITIONS)}{and_more(left)}: {fact.quote}"


CLAUSES: Mapping[str, Clause] = {
    "group_unread": lambda f: f"group {f.subjects[0]}: {f.quote}",
    "commits_unread": lambda f: (
        f"group {f.subjects[0]}: committed offsets of topic {f.subjects[1]}: {f.quote}"
    ),
    "topic_unread": lambda f: f"topic {f.subjects[0]}: {f.quote}",
    "topics_unread": lambda f: f"topics: {f.quote}",
    "partitions_unread": _some,
    "coordinator_unread": lambda f: f"{f.quote}; the groups it coordinates are missing",
    "groups_kept_moving": lambda _: (
        "groups kept moving between brokers while listed; some may be missing"
    ),
    "groups_without_leader": _leaderless,
}
"""Each measure in words."""
