"""Parts of a cluster that could not be read, or not exactly: permissions are missing, or brokers are too old."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ...model.facts import Fact
from ...model.text import and_more, does, plural
from .clauses import Clause, count, known

_NAMED = 5
"""Partitions or groups named of those that could not be read for one cause."""


def _leaderless(fact: Fact) -> str:
    offsets = fact.subjects[0]
    few = does(fact.partitions or 0, "partition", f"of {offsets} has", f"of {offsets} have")
    return f"{few} no leader: the groups there are missing"


def _some(what: str, fact: Fact) -> str:
    left = max(0, len(fact.subjects) - _NAMED) + fact.more
    names = ", ".join(fact.subjects[:_NAMED])
    return f"{plural(what, count(fact))} {names}{and_more(left)}: {fact.quote}"


_OLD = "brokers of about Kafka {first} don't report "
_TOLD = " (reported from {second} on)"
"""Facts that brokers are too old to report, with their version and the first that reports them."""

_CONFIGS_REFUSED = "not allowed (grant this client DESCRIBE_CONFIGS)"

CLAUSES: Mapping[str, Clause] = {
    "group_unread": partial(_some, "group"),
    "commits_unread": "group {first}: committed offsets of topic {second}: {quote}",
    "topic_unread": "topic {first}: {quote}",
    "topics_unread": "topics: {quote}",
    "partitions_unread": partial(_some, "partition"),
    "coordinator_unread": "{quote}; groups that it coordinates may be missing",
    "groups_kept_moving": "groups kept moving between brokers while listed; some may be missing",
    "groups_without_leader": _leaderless,
    "topic_ids_untold": (
        f"{_OLD}topic ids, so a topic that was recreated under its name looks like the first{_TOLD}"
    ),
    "down_brokers_untold": f"{_OLD}which brokers are down, or their racks{_TOLD}",
    "classic_members_untold": (
        f"{_OLD}which members of a KIP-848 group still speak the classic protocol{_TOLD}"
    ),
    "commits_before_ends": lambda f: (
        f"commits were read up to {known(f.after):.0f} s before log ends, because brokers were slow: lag includes the"
        " records produced in between"
    ),
    "clock_went_back": (
        "the clock of this machine went back: snapshot {first} is {after:roughly} ahead, so rates and time lag may be"
        " wrong"
    ),
    "configs_not_served": "configurations: the brokers do not know DescribeConfigs",
    "topic_configs_unread": "configurations of {after:topic}: {quote}",
    "topic_configs_refused": f"configurations of {{after:topic}}: {_CONFIGS_REFUSED}",
    "broker_configs_unread": "configurations of {after:broker}: {quote}",
    "broker_configs_refused": f"configurations of {{after:broker}}: {_CONFIGS_REFUSED}",
    "group_configs_unread": "configurations of {after:group}: {quote}",
    "group_configs_refused": (
        "configurations of {after:group}: not allowed (grant this client DESCRIBE_CONFIGS on the groups)"
    ),
    "log_sizes_not_served": "log directories: the brokers do not know DescribeLogDirs",
    "log_sizes_unread": "log directories of {after:broker}: {quote}",
    "log_sizes_refused": (
        "log directories of {after:broker}: not allowed (grant this client DESCRIBE on the cluster)"
    ),
}
