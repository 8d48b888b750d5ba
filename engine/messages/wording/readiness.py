"""The move of groups to the consumer protocol (KIP-848) in words: what forbids it, what it costs, what it brings."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.coordinators import MOST_MEMBERS_SETTING, POLICY_SETTING, PROTOCOLS_SETTING
from ...model.facts import Fact
from ...model.formats import duration
from .clauses import Clause, filled, known

_ONLINE = "brokers move groups {} the consumer protocol with members running"


def _sessions(fact: Fact) -> str:
    told = filled(
        "the brokers set the session timeout ({after:duration}) and heartbeat ({before:duration}) of a group that sets"
        " none",
        fact,
    )
    least = "" if fact.bound is None else f", at least {duration(known(fact.bound))}"
    return f"{told} (consumer.session.timeout.ms of the group{least})"


def _static(fact: Fact) -> str:
    missed = (
        "{before:duration} ({first})" if fact.subjects else "the session timeout of the brokers"
    )
    stay = "{after} of {bound} members are static: they stay so, a stopped one is missed after "
    return filled(stay + missed, fact)


LOSSES: Mapping[str, Clause] = {
    "assignor_without_counterpart": "{first} has no counterpart on brokers: {second} assigns",
}

CLAUSES: Mapping[str, Clause] = {
    **LOSSES,
    "brokers_lack_protocol": (
        "the brokers don't serve the consumer protocol: it needs Kafka 4.0 and the feature group.version 1"
    ),
    "protocol_not_enabled": f"{PROTOCOLS_SETTING} of the brokers lacks consumer",
    "too_many_members": f"{{after:member}}, {MOST_MEMBERS_SETTING} allows {{bound:,}}",
    "library_without_protocol": (
        "{names} doesn't support the consumer protocol ({after} of {bound} members)"
    ),
    "library_opts_in": "{first} has the consumer protocol only as a preview that is opted into",
    "library_too_old": "{first} {second} is too old: the consumer protocol needs {third}",
    "upgrade_not_allowed": f"{POLICY_SETTING} doesn't allow a move with members running",
    "assignments_with_data": (
        "its leader sends user data ({first}), so brokers reject a move with members running"
    ),
    "classic_members_left": "{after} of {bound} members still use the classic protocol",
    "no_stop_the_world": "no rebalance pauses all {partitions}",
    "no_barrier": "members no longer wait for each other",
    "first_member_decides": "the next member that joins decides the protocol",
    "library_unknown": "the client library of {after} of {bound} members is unknown",
    "static_members_stay": _static,
    "own_settings": "the brokers use settings of this group: {every}",
    "streams_protocol_instead": (
        "Kafka Streams has its own protocol (KIP-1071): stop all instances, then start them with group.protocol=streams"
    ),
    "protocol_settings_unknown": (
        "the settings of the brokers are unknown: evenkeel needs DESCRIBE_CONFIGS on the cluster"
    ),
    "policy_bidirectional": f"{_ONLINE.format('to')}, and back",
    "policy_upgrade": (
        f"{_ONLINE.format('to')}; for the way back, stop all members ({POLICY_SETTING}=upgrade)"
    ),
    "policy_downgrade": (
        f"{_ONLINE.format('back from')}; for the way there, stop all members ({POLICY_SETTING}=downgrade)"
    ),
    "policy_disabled": (
        f"brokers move only groups without members: stop all members ({POLICY_SETTING}=disabled)"
    ),
    "sessions_by_brokers": _sessions,
}
"""Each measure of `advice.protocol_readiness` in words."""
