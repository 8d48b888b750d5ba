"""What changed of a group from one snapshot to another."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.facts import Fact
from ...model.formats import change, duration
from ...model.text import several
from .clauses import Clause, partitions, subjects, whole


def _became(what: str) -> Clause:
    """Two subjects: what was and what is."""
    return lambda fact: f"{what} {change(*fact.subjects)}"


def _of_topic(fact: Fact) -> str:
    """Partitions of a topic, as far as they are known."""
    counts = [whole(value) for value in (fact.before, fact.after) if value is not None]
    if len(counts) == 2:
        return f"{fact.subjects[0]}, {change(f'{counts[0]:,}', several(counts[1], 'partition'))}"
    return f"{fact.subjects[0]}, {several(counts[0], 'partition')}" if counts else fact.subjects[0]


def _topic(what: str) -> Clause:
    return lambda fact: f"{what} {_of_topic(fact)}"


def _retention(fact: Fact) -> str:
    before, after = (
        "unlimited" if value is None else duration(value) for value in (fact.before, fact.after)
    )
    return f"retention of {fact.subjects[0]} {change(before, after)}"


CLAUSES: Mapping[str, Clause] = {
    "members_left": lambda f: f"{subjects(f)} left",
    "members_joined": lambda f: f"{subjects(f)} joined",
    "members_restarted": lambda f: f"{subjects(f)} restarted",
    "strategy_changed": _became("strategy"),
    "type_changed": _became("type of the group"),
    "kafka_cluster_changed": _became("Kafka's cluster id"),
    "listed_strategies_changed": _became("configured strategies"),
    "topology_changed": _became("epoch of the topology"),
    "follower_fetching_changed": _became("reads from followers"),
    "cleanup_policy_changed": lambda f: (
        f"cleanup policy of {f.subjects[0]} {change(*f.subjects[1:])}"
    ),
    "retention_changed": _retention,
    "topic_created": _topic("new topic"),
    "topic_gone": _topic("deleted topic"),
    "topic_recreated": _topic("topic made anew:"),
    "partitions_added": _topic("partitions added to"),
    "topic_subscribed": _topic("now subscribes to"),
    "topic_unsubscribed": _topic("no longer subscribes to"),
    "subscriptions_changed": lambda f: f"other subscription of {subjects(f)}",
    "member_racks_changed": lambda f: f"other rack of {subjects(f)}",
    "member_protocols_changed": lambda f: f"other protocol of {subjects(f)}",
    "replica_racks_changed": lambda f: f"replicas of {partitions(f)} in other racks",
    "owners_changed": lambda f: f"other owner of {partitions(f)}",
    "rules_changed": _became("configuration of evenkeel"),
    "group_is_new": lambda _: "the group is new",
    "not_compared": lambda f: f"not known: {f.quote}",
}
"""Each measure in words."""
