"""What could not be read of a cluster, and what is less sharp or unknown for want of a right or of newer brokers."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.facts import Fact
from ...model.text import and_more, does, listed, several
from .clauses import Clause, known, whole

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


def _before_ends(fact: Fact) -> str:
    return (
        f"commits were read up to {known(fact.after):.0f} s before ends, as brokers had to be waited for: lag counts"
        " what was produced in between"
    )


def _untold(what: str) -> Clause:
    """What brokers are too old to tell: the fact names their version, and the first that tells it."""

    def clause(fact: Fact) -> str:
        version, since = fact.subjects
        return f"brokers of about Kafka {version} do not tell {what} (told from {since} on)"

    return clause


def _withheld(what: str, noun: str, right: str | None = None) -> Clause:
    """Of how many things something is unknown, for want of a right or for the cause that is quoted."""

    def clause(fact: Fact) -> str:
        cause = f"not allowed (grant this client {right})" if right else fact.quote
        return f"{what} of {several(whole(fact.after), noun)}: {cause}"

    return clause


_NOTES: Mapping[str, Clause] = {
    "topic_ids_untold": _untold(
        "topic ids, so that a topic made again under its name cannot be told from the first"
    ),
    "down_brokers_untold": _untold("which brokers are down, nor their racks"),
    "classic_members_untold": _untold(
        "which members of a KIP-848 group still speak the classic protocol"
    ),
    "commits_before_ends": _before_ends,
    "configs_not_served": lambda _: "configurations: the brokers do not know DescribeConfigs",
    "topic_configs_unread": _withheld("configurations", "topic"),
    "topic_configs_refused": _withheld("configurations", "topic", "DESCRIBE_CONFIGS"),
    "broker_configs_unread": _withheld("configurations", "broker"),
    "broker_configs_refused": _withheld("configurations", "broker", "DESCRIBE_CONFIGS"),
    "log_sizes_not_served": lambda _: "log directories: the brokers do not know DescribeLogDirs",
    "log_sizes_unread": _withheld("log directories", "broker"),
    "log_sizes_refused": _withheld("log directories", "broker", "DESCRIBE on the cluster"),
}

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
    **_NOTES,
}
"""Each measure in words."""
