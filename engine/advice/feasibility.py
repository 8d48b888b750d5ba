"""
Whether a group could run a strategy, and how its owner would get it.

A classic group runs what its members elect. Their lists are not on the wire; what configuration says
of them is put to the election, and where that contradicts what the group runs, it is said and not
relied on. A KIP-848 group takes what its broker has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..assignors import ASSIGNORS, every
from ..assignors.kafka.election import Election
from ..assignors.kafka.protocol_names import (
    BY_RACKS,
    SERVER_SIDE,
    cooperative,
    strategy_of,
    wire_name,
)
from ..assignors.kit.orders import distinct
from ..assignors.live import Live
from ..config import Assignors
from ..followers.plan import NAME as PLAN
from ..model.arrays import NONE
from ..model.assignments import Deployment, Feasibility
from ..model.facts import Fact, reason, step
from ..model.groups import GroupSnapshot
from ..model.states import GroupType
from ..streams.settings import RackStrategy, StickyTasks
from .bounce import by_one_restart, in_short, plan_server
from .listed_protocols import Listed, election_of, lists_of

_TASKS = {
    GroupType.STREAMS: reason("broker_assigns_tasks"),
    GroupType.CLASSIC: reason("assigns_tasks"),
}
"""Why an application whose groups `places_tasks` takes no strategy for partitions."""

_RUNS = reason("runs_it")


@dataclass(frozen=True, slots=True, kw_only=True)
class FeasibilityJudgement:
    """
    Whether a group could run a strategy, why, and what its owner has to do for it.

    Attributes:
        feasibility: Whether it could.
        reason: Why, or after what.
        deployment: How this group gets it, where that is another way than others do.
        how: What its owner has to do; nothing where nothing is known to help.
        reporting_nothing: Ids of the members that would report nothing of what they own at the next rebalance, though
            they do not restart.
    """

    feasibility: Feasibility
    reason: tuple[Fact, ...]
    how: tuple[Fact, ...] = ()
    reporting_nothing: frozenset[str] = frozenset()
    deployment: Deployment | None = None


NO_FOLLOWER = FeasibilityJudgement(
    feasibility=Feasibility.YARDSTICK,
    reason=(reason("no_plan_follower"),),
    how=(step("needs_plan_follower"),),
)
"""What is said of a strategy that takes a stored plan."""


_TO_SHIP = frozenset({"ship_class", "java_clients_only", "not_in_librdkafka"})


def _yardstick(why: str) -> FeasibilityJudgement:
    return FeasibilityJudgement(feasibility=Feasibility.YARDSTICK, reason=(reason(why),))


_FOR_COMPARISON, _NOT_FOR_CONSUMERS = _yardstick("for_comparison"), _yardstick("not_for_consumers")
_BROKER_ASSIGNS, _LEADER_ASSIGNS = _yardstick("broker_assigns"), _yardstick("leader_assigns")


def blocked(group: GroupSnapshot) -> Fact | None:
    """Why no strategy can be replayed on this group at all; None when one can."""
    if group.error is None and group.rebalancing:
        return reason("in_rebalance", [group.state])
    return _nothing_to_assign(group) or (
        None if group.places_tasks else _unknown_subscription(group)
    )


def unfit(group: GroupSnapshot) -> Fact | None:
    """Why no strategy for partitions is for this kind of group, whatever it does now; None when one is."""
    return _nothing_to_assign(group) or (_TASKS[group.type] if group.places_tasks else None)


def _nothing_to_assign(group: GroupSnapshot) -> Fact | None:
    """Why nobody assigns anything to the members of this group."""
    if group.error is not None:
        return reason("unreadable", quote=group.error)
    if group.type is GroupType.SHARE:
        return reason("share_group")
    if group.protocol_type not in ("consumer", "streams", "", None):
        return reason("other_protocol", [group.protocol_type])
    if not group.members:
        # commits without any protocol come from consumers that use assign(), or from tools
        classic = group.type is GroupType.CLASSIC
        commits = classic and not group.protocol_type and len(group.partitions) > 0
        return reason("only_commits" if commits else "no_members", [group.state])
    return None


def _unknown_subscription(group: GroupSnapshot) -> Fact | None:
    members = len(group.members)
    regex = sum(m.subscription_regex is not None and not m.subscription for m in group.members)
    if regex:
        return reason("unresolved_regex", after=regex, bound=members)
    untold = sum(m.subscription is None for m in group.members)
    if untold:
        return reason("subscription_unknown", after=untold, bound=members)
    if not bool(group.partitions.assignable.any()):
        return reason("no_existing_topic")
    return _missing_rows(group)


def _missing_rows(group: GroupSnapshot) -> Fact | None:
    """Strategies number the partitions of a topic from 0 without a gap; a snapshot with a gap is damaged."""
    table = group.partitions
    rows = table.assignable
    topic, number = table.topic[rows], table.partition[rows]
    size = np.bincount(topic, minlength=len(table.topics))
    place = np.arange(len(topic)) - (np.cumsum(size) - size)[topic]
    holed = sorted({table.topics[t] for t in topic[number != place].tolist()})
    return reason("partition_rows_missing", holed) if holed else None


def feasibility(
    group: GroupSnapshot, strategy: str, deployment: Deployment, assignors: Assignors | None
) -> FeasibilityJudgement:
    """
    Whether a group that is not `blocked` could run a strategy.

    The elected one can run. Another stock setting could run after the restarts that get it listed and elected
    (`bounce`), a class when it is shipped besides. Which restarts these are depends on what members list.

    Args:
        group: The group.
        strategy: Our name of the strategy.
        deployment: How a user gets it.
        assignors: What configuration says the members list, most preferred first; None when it says nothing.

    Source: KIP-429 for the double bounce; `assignors.kafka.election` for who is elected.
    """
    return Feasibilities(group, assignors).of(strategy, deployment)


class Feasibilities:
    """`feasibility` of any number of strategies of one group; what they share is worked out once."""

    def __init__(self, group: GroupSnapshot, assignors: Assignors | None) -> None:
        """
        Args:
            group: A group that is not `blocked`.
            assignors: As for `feasibility`.
        """
        self.group, self._assignors = group, assignors

    @cached_property
    def listed(self) -> Listed:
        """What each member lists."""
        return lists_of(self.group.members, self._assignors)

    @cached_property
    def election(self) -> Election | None:
        """What that elects."""
        return election_of(self.group, self.listed)

    @cached_property
    def doubted(self) -> Fact | None:
        """Why it cannot be so."""
        return doubt(self.group, self.listed, self.election)

    @cached_property
    def silent(self) -> int:
        """How many members do not tell their racks, where these could change an answer; else 0."""
        members = self.group.members
        silent = sum(m.rack is None or m.rack_source == "configured" for m in members)
        return silent if silent and _racks_vary(self.group) else 0

    def of(self, strategy: str, deployment: Deployment) -> FeasibilityJudgement:
        """Of one strategy, by our name and how a user gets it."""
        group = self.group
        if deployment is Deployment.LIVE:
            return FeasibilityJudgement(feasibility=Feasibility.CAN_RUN, reason=(_present(group),))
        if deployment is Deployment.NEVER:
            return _FOR_COMPARISON
        kip_848 = group.type is GroupType.CONSUMER
        if deployment is Deployment.YARDSTICK:
            return self._by_plan(strategy) or _NOT_FOR_CONSUMERS
        if kip_848 != (strategy in SERVER_SIDE):
            return _BROKER_ASSIGNS if kip_848 else _LEADER_ASSIGNS
        if deployment is Deployment.PLAN:
            return self._by_plan(strategy) or NO_FOLLOWER
        if kip_848:
            return _server_side(group, strategy)
        if runs(group, strategy):
            return _elected(self, strategy)
        return _other(self, strategy, deployment)

    def _by_plan(self, strategy: str) -> FeasibilityJudgement | None:
        """Of a strategy whose assignment can be had as a plan; None where members follow none."""
        group, write = self.group, _one_restart(self.group, "follow_plan", strategy)
        if group.type is not GroupType.CLASSIC:
            return None
        if group.assignor == PLAN:
            why = _RUNS if runs(group, strategy) else reason("follows_plans")
            return FeasibilityJudgement(
                feasibility=Feasibility.CAN_RUN,
                reason=(why,),
                how=(write,),
                deployment=Deployment.PLAN,
            )
        if self.election is None or PLAN not in self.election.poll.candidates:
            return None
        elected = _other(self, PLAN, Deployment.PLAN)
        # whoever lists it has it
        way = tuple(each for each in elected.how if each.measure not in _TO_SHIP)
        return replace(elected, how=(*way, write), deployment=Deployment.PLAN)


def runs(group: GroupSnapshot, strategy: str) -> bool | None:
    """
    Whether this is the strategy the group has elected, by our name; None unknown.

    Which strategy a Kafka Streams application of the classic protocol runs is not on the wire; one of KIP-1071 runs
    what its broker has. A custom strategy
    may have another name there, which only its class knows.
    """
    if strategy == Live.name:
        return False
    if group.places_tasks:
        if strategy == StickyTasks.SERVER:
            return group.type is GroupType.STREAMS
        may_run = group.type is GroupType.CLASSIC and strategy in {*RackStrategy, *StickyTasks}
        return None if may_run else False
    if group.assignor is None:
        return None
    if group.assignor == PLAN:
        return strategy in {PLAN, *(member.follows for member in group.members)}
    elected = strategy_of(group.type, group.assignor) or group.assignor
    own = strategy not in ASSIGNORS and elected not in every()
    return strategy == elected or (None if own else False)


def _present(group: GroupSnapshot) -> Fact:
    """What the live row says; a protocol that no strategy of ours or of the user's answers to is named."""
    name = group.assignor
    known = name is None or strategy_of(group.type, name) or name in every()
    return reason("live_assignment", [] if known or name is None else [name])


def _one_restart(group: GroupSnapshot, measure: str, *names: str) -> Fact:
    return by_one_restart(measure, [one.is_static for one in group.members], names)


def _server_side(group: GroupSnapshot, strategy: str) -> FeasibilityJudgement:
    if runs(group, strategy):
        one = _one_restart(group, "restart_one")
        return FeasibilityJudgement(feasibility=Feasibility.CAN_RUN, reason=(_RUNS,), how=(one,))
    lacking = brokers_lack(group, strategy)
    if lacking is not None:
        how = (step("bring_to_brokers", [SERVER_SIDE[strategy]]),)
        return FeasibilityJudgement(feasibility=Feasibility.YARDSTICK, reason=(lacking,), how=how)
    members = group.members
    classic = sum(member.kind == "classic" for member in members)
    why = [reason("members_may_ask")]
    if classic:
        why.append(reason("classic_members", after=classic, bound=len(members)))
    way = plan_server(strategy, group.assignor, len(members), classic)
    return FeasibilityJudgement(feasibility=Feasibility.COULD_RUN, reason=tuple(why), how=way.how)


def brokers_lack(group: GroupSnapshot, strategy: str) -> Fact | None:
    """Why brokers cannot be asked for a server-side strategy; None where they can, as for Kafka's own unless told."""
    name, there = SERVER_SIDE[strategy], group.group_assignors
    if there is None:
        return reason("brokers_assignors_unknown", [name]) if name == BY_RACKS else None
    return None if name in there else reason("not_on_brokers", [name])


def _elected(known: Feasibilities, strategy: str) -> FeasibilityJudgement:
    """The strategy that the group runs, and what its members' lists say against it."""
    group, election, doubted = known.group, known.election, known.doubted
    wire, why = wire_name(strategy), [_RUNS]
    how: tuple[Fact, ...] = (_one_restart(group, "restart_one"),)
    eager: frozenset[str] = frozenset()
    if doubted:
        why.append(doubted)
    elif election and cooperative([wire]):
        eager = frozenset(m for m, each in election.lists.items() if cooperative(each) is False)
        if eager:
            why.append(_gives_up(group, eager))
            how = in_short(wire, wire, list(election.lists.values()))
    return FeasibilityJudgement(
        feasibility=Feasibility.CAN_RUN,
        reason=tuple(why),
        how=(*how, *_racks(known, strategy)),
        reporting_nothing=eager,
    )


def _gives_up(group: GroupSnapshot, eager: frozenset[str]) -> Fact:
    """What lists with an eager strategy in them do to a cooperative one (KIP-429)."""
    if len(eager) == len(group.members):
        return reason("listed_beside_eager")
    names = [m.identity for m in group.members if m.id in eager]
    return reason("listed_beside_eager_by", names, bound=len(group.members))


def _other(known: Feasibilities, strategy: str, deployment: Deployment) -> FeasibilityJudgement:
    """A client-side strategy that the group does not run."""
    group, lists, election, doubted = known.group, known.listed, known.election, known.doubted
    wire = wire_name(strategy)
    if doubted:
        lists, election = dict.fromkeys(lists), None
    present = group.assignor or "the present strategy"
    needs = [reason(_restarts(wire, election))]
    if deployment is Deployment.CLASS:
        needs.append(reason("shipping_class"))
    return FeasibilityJudgement(
        feasibility=Feasibility.COULD_RUN,
        reason=(*needs, *([doubted] if doubted else _who_lists(group, wire, lists, election))),
        how=(*in_short(wire, present, list(lists.values())), *_racks(known, strategy)),
    )


def _restarts(wire: str, election: Election | None) -> str:
    """After which restarts it runs, as a measure; without lists the careful way."""
    if election is None:
        return "after_double_bounce"
    if wire not in election.poll.candidates:
        eager = cooperative([wire]) is False
        return "after_restart_adding" if eager else "after_double_bounce"
    return "after_restart_alone" if cooperative([wire]) else "after_restart_first"


def _who_lists(
    group: GroupSnapshot, wire: str, lists: Listed, election: Election | None
) -> list[Fact]:
    """Who lists a strategy and who does not, as far as anybody said."""
    count = len(group.members)
    if election and wire in election.poll.candidates:
        elected = election.elected or ""
        votes = election.votes[elected]
        return [reason("listed_not_elected", [elected], after=votes, bound=count)]
    unknown = sum(listed is None for listed in lists.values())
    if unknown == count:
        return []
    without = [m.identity for m in group.members if wire not in (lists[m.id] or (wire,))]
    told = []
    if len(without) == count:
        told.append(reason("nobody_lists_it"))
    elif without:
        told.append(reason("not_listed_by", without, bound=count))
    if unknown:
        told.append(reason("lists_unknown", after=unknown, bound=count))
    return told


def doubt(group: GroupSnapshot, lists: Listed, election: Election | None) -> Fact | None:
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
        return reason("running_not_listed", [runs_now, *without])
    if election is None or election.elected == runs_now:
        return None
    elected = [election.elected] if election.elected else []
    return reason("running_not_elected", [runs_now, *elected])


def _racks(known: Feasibilities, strategy: str) -> tuple[Fact, ...]:
    """
    What members have to tell for a rack-aware strategy to see their racks.

    Nothing where that could not change the answer: all partitions are on the same racks, or all
    members tell theirs.
    """
    asked = ASSIGNORS.get(strategy) or every().get(strategy)
    if asked is None or "racks" not in asked.needs or not known.silent:
        return ()
    return (step("tell_racks", after=known.silent, bound=len(known.group.members)),)


def _racks_vary(group: GroupSnapshot) -> bool:
    """Whether some partition is not on every rack that holds a partition."""
    table, racks = group.partitions, max(len(group.partitions.racks), 1)
    row = np.repeat(np.arange(len(table)), np.diff(table.replica_start))
    counted = (table.replica_rack != NONE) & table.assignable[row]
    held = distinct(row[counted] * racks + table.replica_rack[counted], len(table) * racks)
    offered = len(distinct(held % racks, racks))
    on = np.bincount(held // racks, minlength=len(table))
    return bool((on[table.assignable] != offered).any())
