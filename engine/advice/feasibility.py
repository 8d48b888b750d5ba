"""
Whether a group could run a strategy, and how its owner would get it.

A classic group runs what its members elect. Their lists are not on the wire; what configuration says
of them is put to the election, and where that contradicts what the group runs, it is said and not
relied on. A KIP-848 group takes what its broker has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenkeel.engine.advice.bounce import in_short, plan_server
from evenkeel.engine.advice.listed import Listed, election_of, lists_of
from evenkeel.engine.assignors import ASSIGNORS, every
from evenkeel.engine.assignors.live import Live
from evenkeel.engine.config import Assignors
from evenkeel.engine.kit.distinct import distinct
from evenkeel.engine.kit.election import Election
from evenkeel.engine.kit.protocol_names import (
    SERVER_SIDE,
    cooperative,
    strategy_of,
    wire_name,
)
from evenkeel.engine.model import NONE, Deployment, Feasibility, GroupSnapshot, GroupType
from evenkeel.engine.streams.settings import RackStrategy
from evenkeel.engine.text import listed

NAMED = 3
"""As many members are named in a reason."""

TASKS = {
    GroupType.STREAMS: "a KIP-1071 Streams group: the broker assigns tasks, it takes no partition strategy",
    GroupType.CLASSIC: "a Kafka Streams application: it assigns tasks, partition strategies would tear them apart",
}
"""Why an application whose groups `places_tasks` takes no strategy for partitions."""

RUNS = "the strategy it runs"
_RESTART_ONE = (
    "It runs this strategy already: restart one member, the rebalance brings the assignment."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """
    Whether a group could run a strategy, why, and what its owner has to do for it.

    Attributes:
        feasibility: Whether it could.
        reason: Why, or after what.
        how: What its owner has to do; None where nothing is known to help.
        reporting_nothing: Ids of the members that would report nothing of what they own at the next rebalance, though
            they do not restart.
    """

    feasibility: Feasibility
    reason: str
    how: str | None = None
    reporting_nothing: frozenset[str] = frozenset()


NO_FOLLOWER = Judgement(
    feasibility=Feasibility.YARDSTICK,
    reason="a stored plan, and nothing follows plans yet",
    how="It needs members whose assignor follows a stored plan; evenkeel does not ship that assignor yet.",
)
"""What is said of a strategy that takes a stored plan."""


def blocked(group: GroupSnapshot) -> str | None:
    """Why no strategy can be replayed on this group at all; None when one can."""
    if group.error is None and group.rebalancing:
        return f"rebalancing ({group.state})"
    return _nothing_to_assign(group) or (
        None if group.places_tasks else _unknown_subscription(group)
    )


def unfit(group: GroupSnapshot) -> str | None:
    """Why no strategy for partitions is for this kind of group, whatever it does now; None when one is."""
    return _nothing_to_assign(group) or (TASKS[group.type] if group.places_tasks else None)


def _nothing_to_assign(group: GroupSnapshot) -> str | None:
    """Why nobody assigns anything to the members of this group."""
    if group.error is not None:
        return f"could not be read: {group.error}"
    if group.type is GroupType.SHARE:
        return "a share group: its members share partitions, there is no assignment to compare"
    if group.protocol_type not in ("consumer", "streams", "", None):
        return f"protocol type {group.protocol_type}: not a consumer group"
    if not group.members:
        return f"no members ({group.state})" + _assigns_itself(group)
    return None


def _assigns_itself(group: GroupSnapshot) -> str:
    """Commits without any protocol come from consumers that use assign(), or from tools."""
    if group.type is not GroupType.CLASSIC or group.protocol_type or not len(group.partitions):
        return ""
    return ": it only commits, as consumers that call assign() do; those take no strategy"


def _unknown_subscription(group: GroupSnapshot) -> str | None:
    regex = sum(m.subscription_regex is not None and not m.subscription for m in group.members)
    if regex:
        return f"regex: {regex} of {len(group.members)} members subscribe by a pattern that is not resolved"
    untold = sum(m.subscription is None for m in group.members)
    if untold:
        return f"the subscription of {untold} of {len(group.members)} members is not known"
    if not bool(group.partitions.assignable.any()):
        return "no member subscribes to a topic that exists"
    return _missing_rows(group)


def _missing_rows(group: GroupSnapshot) -> str | None:
    """Strategies number the partitions of a topic from 0 without a gap; a snapshot with a gap is damaged."""
    table = group.partitions
    rows = table.assignable
    topic, number = table.topic[rows], table.partition[rows]
    size = np.bincount(topic, minlength=len(table.topics))
    place = np.arange(len(topic)) - (np.cumsum(size) - size)[topic]
    holed = sorted({table.topics[t] for t in topic[number != place].tolist()})
    return f"partition rows of {', '.join(holed[:3])} are missing" if holed else None


def feasibility(
    group: GroupSnapshot, strategy: str, deployment: Deployment, assignors: Assignors | None
) -> Judgement:
    """
    Whether a group that is not `blocked` could run a strategy.

    The elected one can run. Another stock setting could run after the restarts that get it listed and elected
    (`bounce`), a class when it is shipped besides. Which restarts these are depends on what members list.

    Args:
        group: The group.
        strategy: Our name of the strategy.
        deployment: How a user gets it.
        assignors: What configuration says the members list, most preferred first; None when it says nothing.

    Source: KIP-429 for the double bounce; `kit.election` for who is elected.
    """
    if deployment is Deployment.LIVE:
        return Judgement(feasibility=Feasibility.CAN_RUN, reason=_present(group))
    if deployment is Deployment.NEVER:
        return Judgement(
            feasibility=Feasibility.YARDSTICK, reason="shown for comparison, never advised"
        )
    if deployment is Deployment.YARDSTICK:
        return Judgement(
            feasibility=Feasibility.YARDSTICK,
            reason="no setting or class brings it to a consumer group",
        )
    kip_848 = group.type is GroupType.CONSUMER
    if kip_848 != (strategy in SERVER_SIDE):
        return Judgement(feasibility=Feasibility.YARDSTICK, reason=_wrong_side(kip_848))
    if deployment is Deployment.PLAN:
        return NO_FOLLOWER
    if kip_848:
        return _server_side(group, strategy)
    lists = lists_of(group.members, assignors)
    if runs(group, strategy):
        return _elected(group, strategy, lists)
    return _other(group, strategy, deployment, lists)


def runs(group: GroupSnapshot, strategy: str) -> bool | None:
    """
    Whether this is the strategy the group has elected, by our name; None unknown.

    Which rack strategy a Kafka Streams application of the classic protocol runs is not on the wire. A custom strategy
    may have another name there, which only its class knows.
    """
    if strategy == Live.name:
        return False
    if group.places_tasks:
        may_run = group.type is GroupType.CLASSIC and strategy in set(RackStrategy)
        return None if may_run else False
    if group.assignor is None:
        return None
    elected = strategy_of(group.type, group.assignor) or group.assignor
    own = strategy not in ASSIGNORS and elected not in every()
    return strategy == elected or (None if own else False)


def _present(group: GroupSnapshot) -> str:
    """What the live row says; a protocol that no strategy of ours or of the user's answers to is named."""
    told = "what the group has now"
    if (
        group.assignor is None
        or strategy_of(group.type, group.assignor)
        or group.assignor in every()
    ):
        return told
    return f"{told}, by {group.assignor}: not emulated"


def _wrong_side(kip_848: bool) -> str:
    if kip_848:
        return "KIP-848 group: the broker assigns, a client-side strategy cannot be deployed"
    return "classic group: its leader assigns, a server-side strategy cannot be deployed"


def _server_side(group: GroupSnapshot, strategy: str) -> Judgement:
    if runs(group, strategy):
        return Judgement(feasibility=Feasibility.CAN_RUN, reason=RUNS, how=_RESTART_ONE)
    members = group.members
    classic = sum(member.kind == "classic" for member in members)
    reason = "members may ask for it"
    if classic:
        reason += f"; {classic} of {len(members)} still use the classic protocol and cannot"
    way = plan_server(strategy, group.assignor, len(members), classic)
    return Judgement(feasibility=Feasibility.COULD_RUN, reason=reason, how=way.how)


def _elected(group: GroupSnapshot, strategy: str, lists: Listed) -> Judgement:
    """The strategy that the group runs, and what its members' lists say against it."""
    wire, election = wire_name(strategy), election_of(group, lists)
    doubted, reason, how = doubt(group, lists, election), RUNS, _RESTART_ONE
    eager: frozenset[str] = frozenset()
    if doubted:
        reason += f"; {doubted}"
    elif election and cooperative([wire]):
        eager = frozenset(m for m, each in election.lists.items() if cooperative(each) is False)
        if eager:
            reason += f"; {_gives_up(group, eager)}"
            how = in_short(wire, wire, list(election.lists.values()))
    return Judgement(
        feasibility=Feasibility.CAN_RUN,
        reason=reason,
        how=how + _racks(group, strategy),
        reporting_nothing=eager,
    )


def _gives_up(group: GroupSnapshot, eager: frozenset[str]) -> str:
    """What lists with an eager strategy in them do to a cooperative one (KIP-429)."""
    if len(eager) == len(group.members):
        return "listed beside eager ones, it starts afresh at every rebalance"
    names = [m.identity for m in group.members if m.id in eager]
    verb = "lists" if len(names) == 1 else "list"
    return (
        f"{len(names)} of {len(group.members)} members ({listed(names, NAMED)}) {verb} an eager one beside it: "
        "what they own starts afresh at every rebalance"
    )


def _other(group: GroupSnapshot, strategy: str, deployment: Deployment, lists: Listed) -> Judgement:
    """A client-side strategy that the group does not run."""
    wire, election = wire_name(strategy), election_of(group, lists)
    doubted = doubt(group, lists, election)
    if doubted:
        lists, election = dict.fromkeys(lists), None
    present = group.assignor or "the present strategy"
    needs = f"after {_restarts(wire, election)}"
    if deployment is Deployment.CLASS:
        needs += " and ships its class with every member"
    return Judgement(
        feasibility=Feasibility.COULD_RUN,
        reason="; ".join(
            [needs, *([doubted] if doubted else _who_lists(group, wire, lists, election))]
        ),
        how=in_short(wire, present, list(lists.values())) + _racks(group, strategy),
    )


def _restarts(wire: str, election: Election | None) -> str:
    """What has to be done, as a setting and its restarts; without lists the careful way."""
    if election is None:
        return "a double bounce that adds it"
    if wire not in election.poll.candidates:
        eager = cooperative([wire]) is False
        return "one rolling restart that adds it" if eager else "a double bounce that adds it"
    return (
        f"one rolling restart that {'lists it alone' if cooperative([wire]) else 'puts it first'}"
    )


def _who_lists(
    group: GroupSnapshot, wire: str, lists: Listed, election: Election | None
) -> list[str]:
    """Who lists a strategy and who does not, as far as anybody said."""
    count = len(group.members)
    if election and wire in election.poll.candidates:
        votes = f"{election.votes[election.elected or '']} of {count} votes"
        return [f"all {count} members list it, but {election.elected} is elected ({votes})"]
    unknown = sum(listed is None for listed in lists.values())
    if unknown == count:
        return []
    without = [m.identity for m in group.members if wire not in (lists[m.id] or (wire,))]
    told = [_lacking(without, count)] if without else []
    return [*told, f"what {unknown} of {count} members list is not known"] if unknown else told


def _lacking(names: Sequence[str], count: int) -> str:
    if len(names) == count:
        return "no member lists it"
    verb = "does" if len(names) == 1 else "do"
    return f"{len(names)} of {count} members {verb} not list it ({listed(names, NAMED)})"


def doubt(group: GroupSnapshot, lists: Listed, election: Election | None) -> str | None:
    """
    Why lists that were said cannot be what the members have; None where nothing speaks against it.

    Args:
        group: The group.
        lists: What its members are said to list.
        election: What that elects; None where a list is not known.
    """
    runs_now = group.assignor
    if runs_now is None or all(listed is None for listed in lists.values()):
        return None
    without = [
        m.identity for m in group.members if runs_now not in (lists.get(m.id) or (runs_now,))
    ]
    if without:
        return (
            f"it runs {runs_now}, which the lists of {listed(without, NAMED)} leave out: check them"
        )
    if election is None or election.elected == runs_now:
        return None
    return f"it runs {runs_now}, but the lists elect {election.elected}: check them"


def _racks(group: GroupSnapshot, strategy: str) -> str:
    """
    What members have to tell for a rack-aware strategy to see their racks.

    Nothing where that could not change the answer: all partitions are on the same racks, or all
    members tell theirs.
    """
    silent = sum(m.rack is None or m.rack_source == "configured" for m in group.members)
    known = every().get(strategy)
    if known is None or "racks" not in known.needs or not silent or not _racks_vary(group):
        return ""
    verb = "does" if silent == 1 else "do"
    return f" It looks at the racks only of members that set client.rack; {silent} of {len(group.members)} {verb} not."


def _racks_vary(group: GroupSnapshot) -> bool:
    """Whether some partition is not on every rack that holds a partition."""
    table, racks = group.partitions, max(len(group.partitions.racks), 1)
    row = np.repeat(np.arange(len(table)), np.diff(table.replica_start))
    counted = (table.replica_rack != NONE) & table.assignable[row]
    held = distinct(row[counted] * racks + table.replica_rack[counted], len(table) * racks)
    offered = len(distinct(held % racks, racks))
    on = np.bincount(held // racks, minlength=len(table))
    return bool((on[table.assignable] != offered).any())
