"""What changed of a group from one snapshot to another."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...model.facts import Fact
from ...model.formats import change, duration, size
from ...model.text import several
from .clauses import Clause, whole


def _topic(what: str) -> Clause:
    """A topic, with its partitions as far as they are known."""

    def clause(fact: Fact) -> str:
        counts = [whole(value) for value in (fact.before, fact.after) if value is not None]
        text = [several(number, "partition") for number in counts[-1:]]
        if len(counts) == 2:
            text = [change(f"{counts[0]:,}", *text)]
        return f"{what} {', '.join([fact.subjects[0], *text])}"

    return clause


def _partitions_added(fact: Fact) -> str:
    before, after = (f"{whole(value):,}" for value in (fact.before, fact.after))
    return f"topic {fact.subjects[0]} {change(before, after)} partitions"


def _retention(what: str, form: Callable[[float], str]) -> Clause:
    def clause(fact: Fact) -> str:
        before, after = (
            "unlimited" if value is None else form(value) for value in (fact.before, fact.after)
        )
        return f"{what} of {fact.subjects[0]} {change(before, after)}"

    return clause


CLAUSES: Mapping[str, Clause] = {
    "arrivals_changed": "{after:rate} arrive, {before:rate} {bound:roughly} before",
    "speed_changed": "{names} does {after:rate}, {before:rate} {bound:roughly} before",
    "members_left": "{names} left",
    "members_joined": "{names} joined",
    "members_restarted": "{names} restarted",
    "strategy_changed": "strategy {first} -> {second}",
    "type_changed": "type of the group {first} -> {second}",
    "kafka_cluster_changed": "Kafka's cluster id {first} -> {second}",
    "listed_strategies_changed": "configured strategies {first} -> {second}",
    "topology_changed": "epoch of the topology {first} -> {second}",
    "follower_fetching_changed": "reads from followers {first} -> {second}",
    "cleanup_policy_changed": "cleanup policy of {first} {second} -> {third}",
    "retention_changed": _retention("retention", duration),
    "retention_bytes_changed": _retention("retention.bytes", size),
    "topic_created": _topic("new topic"),
    "topic_gone": _topic("deleted topic"),
    "topic_recreated": _topic("recreated topic"),
    "partitions_added": _partitions_added,
    "topic_subscribed": _topic("now subscribes to"),
    "topic_unsubscribed": _topic("no longer subscribes to"),
    "subscriptions_changed": "subscription of {names} changed",
    "member_racks_changed": "rack of {names} changed",
    "member_protocols_changed": "protocol of {names} changed",
    "replica_racks_changed": "replicas of {partitions} moved to other racks",
    "owners_changed": "owner of {partitions} changed",
    "rules_changed": "configuration of evenkeel {first} -> {second}",
    "group_is_new": "the group is new",
    "not_compared": "not known: {quote}",
}
