"""Causes of rebalances in words, with their evidence."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.facts import Fact
from ...model.states import RebalanceCause, Remedy
from .clauses import Clause, filled, whole

_WHY: Mapping[RebalanceCause, str] = {
    RebalanceCause.CRASH_LOOP: "crash loop of {names} ({after} joins)",
    RebalanceCause.SCALER_FLAPPING: "scaler flapping ({names})",
    RebalanceCause.DEPLOY: "deploy ({after} of {bound:member} replaced)",
    RebalanceCause.SUBSCRIPTION_CHANGED: "subscription changed ({names})",
    RebalanceCause.PARTITIONS_ADDED: "partitions added ({names})",
    RebalanceCause.COORDINATOR_MOVED: "its coordinator moved",
    RebalanceCause.POLL_TIMEOUT: "poll timeout of {names}",
    RebalanceCause.SESSION_TIMEOUT: "session timeout of {names}",
    RebalanceCause.MEMBER_RESTARTED: "restart of {names}",
    RebalanceCause.MEMBERS_ADDED: "members added ({names})",
    RebalanceCause.MEMBERS_REMOVED: "members removed ({names})",
    RebalanceCause.UNKNOWN: "unknown cause",
}
"""Each cause; the number of rebalances stands before it."""


def _rebalanced(cause: RebalanceCause) -> Clause:
    def clause(fact: Fact) -> str:
        why = filled(_WHY[cause], fact)
        if not whole(fact.before):
            return f"no rebalance: {why}"
        moved = "" if fact.partitions is None else filled(", {partitions} reassigned", fact)
        return filled("{before:rebalance}: ", fact) + why + moved

    return clause


CLAUSES: Mapping[str, Clause] = {
    **{cause.measure: _rebalanced(cause) for cause in RebalanceCause},
    "stopped_before_leaving": (
        "{names} committed nothing for {after:duration} before it left, though its partitions had lag"
    ),
    "rebalances_unseen": "{after:rebalance} between two snapshots left no trace in the members",
}
"""Clauses of causes of rebalances, by measure."""

SETTINGS: Mapping[Remedy, str] = {
    Remedy.STATIC_MEMBERSHIP: (
        "set group.instance.id of each member to a name that survives restarts, and the session timeout"
        " (session.timeout.ms, or with KIP-848 consumer.session.timeout.ms of the group) above the time of a restart"
    ),
    Remedy.COOPERATIVE: (
        "switch to cooperative-sticky: `evenkeel runbook --strategy cooperative-sticky` prints the steps"
    ),
    Remedy.CONSUMER_PROTOCOL: "set group.protocol=consumer (KIP-848), in a rolling restart",
    Remedy.LONGER_SESSION_TIMEOUT: (
        "raise session.timeout.ms (max.poll.interval.ms for slow polls) above the longest interruption"
    ),
    Remedy.LONGER_SESSION_ON_BROKERS: (
        "raise consumer.session.timeout.ms of the group (kafka-configs.sh --entity-type groups) or"
        " group.consumer.session.timeout.ms of the brokers (max.poll.interval.ms of the members for slow polls) above"
        " the longest interruption"
    ),
}
"""What to change for each remedy."""
