"""
Whether a group could run a strategy, and how its owner would get it.

A classic group runs what its members elect. Their lists are not on the wire; what configuration says
of them is put to the election, and where that contradicts what the group runs, it is said and not
relied on. A KIP-848 group takes what its broker has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..assignors import ASSIGNORS, every
from ..assignors.kafka.election import Election
from ..assignors.kafka.protocol_names import (
    BY_RACKS,
    CLIENT_SIDE,
    SERVER_SIDE,
    base_of,
    cooperative,
    strategy_of,
    wire_name,
)
from ..assignors.kit.orders import distinct
from ..assignors.live import Live
from ..config import Assignors
from ..followers.plan import NAME as PLAN
from ..metrics.racks import stray_racks
from ..model.arrays import NONE
from ..model.assignments import ABLE, Deployment, Feasibility
from ..model.facts import Fact, reason, step
from ..model.groups import GroupSnapshot
from ..model.states import GroupType
from ..streams.settings import RackStrategy, StickyTasks
from .listed_protocols import Listed, doubt, election_of, lists_of, who_lists
from .rolling_restarts import by_one_restart, in_short, plan_server
from .rollout import Client, client_settings, clients_of

_TASKS = {
    GroupType.STREAMS: reason("broker_assigns_tasks"),
    GroupType.CLASSIC: reason("assigns_tasks"),
}
"""Why an application whose groups `places_tasks` takes no strategy for partitions."""

_RUNS = reason("runs_it")


@dataclass(frozen=True, slots=True, kw_only=True)
class FeasibilityJudgment:
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


def no_follower(*group: str) -> FeasibilityJudgment:
    """What is known of a strategy that needs a stored plan: of a *group*, or of any."""
    return FeasibilityJudgment(
        feasibility=Feasibility.NOT_DEPLOYABLE,
        reason=(reason("no_plan_follower"),),
        how=(step("needs_plan_follower", group),),
    )


_TO_SHIP = frozenset({"ship_class", "java_clients_only", "not_in_librdkafka"})


def _undeployable(why: str) -> FeasibilityJudgment:
    return FeasibilityJudgment(feasibility=Feasibility.NOT_DEPLOYABLE, reason=(reason(why),))


_FOR_COMPARISON, _NOT_FOR_CONSUMERS = (
    _undeployable("for_comparison"),
    _undeployable("not_for_consumers"),
)
_BROKER_ASSIGNS, _LEADER_ASSIGNS = _undeployable("broker_assigns"), _undeployable("leader_assigns")


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
    if not group.member_counts.members:
        # commits without any protocol come from consumers that use assign(), or from tools
        classic = group.type is GroupType.CLASSIC
        commits = classic and not group.protocol_type and len(group.partitions) > 0
        return reason("only_commits" if commits else "no_members", [group.state])
    return None


def _unknown_subscription(group: GroupSnapshot) -> Fact | None:
    members, regex, untold = group.member_counts
    if regex:
        return reason("unresolved_regex", after=regex, bound=members)
    if untold:
        return reason("subscription_unknown", after=untold, bound=members)
    if not bool(group.partitions.assignable.any()):
        return reason("no_existing_topic")
    # strategies number the partitions of a topic from 0 without a gap; a snapshot with a gap is damaged
    table = group.partitions
    rows = table.assignable
    topic, number = table.topic[rows], table.partition[rows]
    size = np.bincount(topic, minlength=len(table.topics))
    place = np.arange(len(topic)) - (np.cumsum(size) - size)[topic]
    holed = sorted({table.topics[t] for t in topic[number != place].tolist()})
    return reason("partition_rows_missing", holed) if holed else None


class Feasibilities:
    """
    Whether a group could run each of any number of strategies; what they share is worked out once.

    The elected one is available. Another stock setting is available after the restarts that get it listed and elected
    (`rolling_restarts`), a class when it is shipped as well; none that a member's client library is known to lack.
    Which restarts these are depends on what members list. Members that follow plans can have them all, as a plan.

    Source: KIP-429 for two rolling restarts; `assignors.kafka.election` for who is elected.
    """

    def __init__(
        self, group: GroupSnapshot, assignors: Assignors | None, client: str | None = None
    ) -> None:
        """
        Args:
            group: A group that is not `blocked`.
            assignors: What configuration says the members list, most preferred first; None when it says nothing.
            client: What it says is the library of all members.
        """
        self.group, self._assignors, self._client = group, assignors, client
        self._runs: dict[str, bool | None] = {}

    def runs(self, strategy: str) -> bool | None:
        """Whether this is the strategy that the group has elected (`runs`)."""
        if strategy not in self._runs:
            self._runs[strategy] = runs(self.group, strategy)
        return self._runs[strategy]

    @cached_property
    def listed(self) -> Listed:
        """What each member lists."""
        return lists_of(self.group.roster, self._assignors)

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
        """How many members do not tell their racks, where some partition is not on every rack that has one; else 0."""
        told = self.group.roster.send_rack
        if all(told):
            return 0
        table, racks = self.group.partitions, max(len(self.group.partitions.racks), 1)
        row = np.repeat(np.arange(len(table)), np.diff(table.replica_start))
        counted = (table.replica_rack != NONE) & table.assignable[row]
        held = distinct(row[counted] * racks + table.replica_rack[counted], len(table) * racks)
        offered = len(distinct(held % racks, racks))
        on = np.bincount(held // racks, minlength=len(table))
        vary = bool((on[table.assignable] != offered).any())
        return told.count(False) if vary else 0

    @cached_property
    def untold(self) -> Mapping[str, list[str]]:
        """By rack, who is known to be there and does not tell it; nothing where telling could not change an answer."""
        members = self.group.roster
        told = zip(members.racks, members.send_rack, strict=True)
        if all(sends or rack is None for rack, sends in told):
            return {}
        return untold_racks(self.group) if self.silent else {}

    def of(self, strategy: str, deployment: Deployment) -> FeasibilityJudgment:
        """
        Whether the group could run one of them.

        Args:
            strategy: Our name of it.
            deployment: How a user gets it.
        """
        group, base = self.group, base_of(strategy)
        if base != strategy:
            return self._once_told(base, self.of(base, deployment))
        if deployment is Deployment.LIVE:
            name = group.assignor
            known = name is None or strategy_of(group.type, name) or name in every()
            why = reason("live_assignment", [] if known or name is None else [name])
            return FeasibilityJudgment(feasibility=Feasibility.AVAILABLE, reason=(why,))
        if deployment is Deployment.NEVER:
            return _FOR_COMPARISON
        kip_848 = group.type is GroupType.CONSUMER
        if (by_plan := self._by_plan(strategy, deployment)) is not None:
            return by_plan
        if deployment is Deployment.BASELINE:
            return _NOT_FOR_CONSUMERS
        if kip_848 != (strategy in SERVER_SIDE):
            return _BROKER_ASSIGNS if kip_848 else _LEADER_ASSIGNS
        if deployment is Deployment.PLAN:
            return no_follower(group.group)
        if kip_848:
            return self._server_side(strategy)
        if self.runs(strategy):
            return self._elected(strategy)
        return self._lacking(strategy) or self._other(strategy, deployment)

    def _one_restart(self, measure: str, *names: str) -> Fact:
        return by_one_restart(measure, self.group.roster.static, names)

    def _once_told(self, base: str, plain: FeasibilityJudgment) -> FeasibilityJudgment:
        """Of a strategy once every member sends its rack: as without, after that is set."""
        untold = untold_racks(self.group)
        able = plain.feasibility in ABLE
        if not untold or not able or plain.deployment is Deployment.PLAN:
            return plain  # who follows a plan is given it, wherever Kafka sees him
        running = plain.feasibility is Feasibility.AVAILABLE
        told = sum(map(len, untold.values()))
        way = [each for each in plain.how if each.measure not in ("restart_one", "tell_racks")]
        return replace(
            plain,
            feasibility=Feasibility.NEEDS_RESTART,
            reason=(*(() if running else plain.reason), reason("after_racks_told")),
            how=(step("set_client_rack", untold, after=told, bound=len(self.group.roster)), *way),
        )

    def _by_plan(self, strategy: str, deployment: Deployment) -> FeasibilityJudgment | None:
        """
        Of a strategy whose assignment can be had as a plan; None where members follow none.

        All can in a group that follows plans. Where members only list the follower a stock setting is had as such.
        """
        group = self.group
        if group.type is not GroupType.CLASSIC or strategy in (PLAN, *SERVER_SIDE):
            return None
        if group.assignor == PLAN:
            why = _RUNS if self.runs(strategy) else reason("follows_plans")
            write = self._one_restart("follow_plan", strategy, group.group)
            return FeasibilityJudgment(
                feasibility=Feasibility.AVAILABLE,
                reason=(why,),
                how=(write,),
                deployment=Deployment.PLAN,
            )
        if deployment is Deployment.SETTING or self.runs(strategy):
            return None
        if self.election is None or PLAN not in self.election.poll.candidates:
            return None
        write = self._one_restart("follow_plan", strategy, group.group)
        elected = self._other(PLAN, Deployment.PLAN)
        # whoever lists it has it
        way = tuple(each for each in elected.how if each.measure not in _TO_SHIP)
        return replace(elected, how=(*way, write), deployment=Deployment.PLAN)

    @cached_property
    def clients(self) -> Mapping[Client | None, int]:
        """How many members are known to be of which client library."""
        return clients_of(self.group, self._client)

    @cached_property
    def library(self) -> str | None:
        """The one library of all members, as configured or by their client ids; None where that is not known."""
        known = list(self.clients)
        return self._client or (str(known[0]) if len(known) == 1 and known[0] else None)

    def _lacking(self, strategy: str) -> FeasibilityJudgment | None:
        """Of a strategy that members are known to lack, by the library they are of; None where none is."""
        wire = wire_name(strategy)
        if wire not in CLIENT_SIDE:
            return None
        without = [c for c in self.clients if c and client_settings(c, (wire,)) is None]
        if not without:
            return None
        why = reason(
            "not_in_library",
            without,
            after=sum(self.clients[each] for each in without),
            bound=len(self.group.roster),
        )
        follow = all(client_settings(each, (PLAN,)) is not None for each in without)
        return FeasibilityJudgment(
            feasibility=Feasibility.NOT_DEPLOYABLE,
            reason=(why,),
            how=no_follower(self.group.group).how if follow else (),
        )

    def _server_side(self, strategy: str) -> FeasibilityJudgment:
        group, members = self.group, self.group.roster
        if self.runs(strategy):
            how = (self._one_restart("restart_one"),)
            return FeasibilityJudgment(feasibility=Feasibility.AVAILABLE, reason=(_RUNS,), how=how)
        lacking = brokers_lack(group, strategy)
        if lacking is not None:
            how = (step("bring_to_brokers", [SERVER_SIDE[strategy], group.group]),)
            undeployable = Feasibility.NOT_DEPLOYABLE
            return FeasibilityJudgment(feasibility=undeployable, reason=(lacking,), how=how)
        classic = members.kinds.count("classic")
        why = [reason("members_may_ask")]
        if classic:
            why.append(reason("classic_members", after=classic, bound=len(members)))
        way = plan_server(
            strategy, group.assignor, len(members), classic, members.static, group.kafka_release
        ).how
        return FeasibilityJudgment(
            feasibility=Feasibility.NEEDS_RESTART, reason=tuple(why), how=way
        )

    def _elected(self, strategy: str) -> FeasibilityJudgment:
        """The strategy that the group runs, and what its members' lists say against it."""
        members, election = self.group.roster, self.election
        wire, why = wire_name(strategy), [_RUNS]
        how: tuple[Fact, ...] = (self._one_restart("restart_one"),)
        eager: frozenset[str] = frozenset()
        if self.doubted:
            why.append(self.doubted)
        elif election and cooperative([wire]):
            # what lists with an eager strategy in them do to a cooperative one (KIP-429)
            eager = frozenset(m for m, each in election.lists.items() if cooperative(each) is False)
            if eager:
                named = zip(members.ids, members.identities, strict=True)
                names = [identity for id, identity in named if id in eager]
                some = reason("listed_beside_eager_by", names, bound=len(members))
                why.append(reason("listed_beside_eager") if len(eager) == len(members) else some)
                how = in_short(wire, wire, tuple(election.lists.values()))
        return FeasibilityJudgment(
            feasibility=Feasibility.AVAILABLE,
            reason=tuple(why),
            how=(*how, *self._racks(strategy)),
            reporting_nothing=eager,
        )

    def _other(self, strategy: str, deployment: Deployment) -> FeasibilityJudgment:
        """A client-side strategy that the group does not run."""
        group, lists, election = self.group, self.listed, self.election
        wire = wire_name(strategy)
        if self.doubted:
            lists, election = dict.fromkeys(lists), None
        if election is not None and wire in election.poll.candidates:
            after = "after_restart_alone" if cooperative([wire]) else "after_restart_first"
        else:
            eager = cooperative([wire]) is False
            after = "after_restart_adding" if eager else "after_two_restarts"
        needs = [reason(after)]
        if deployment is Deployment.CLASS:
            needs.append(reason("shipping_class"))
        needs += [self.doubted] if self.doubted else who_lists(group, wire, lists, election)
        present = group.assignor or "the present strategy"
        how = in_short(wire, present, tuple(lists.values()))
        return FeasibilityJudgment(
            feasibility=Feasibility.NEEDS_RESTART,
            reason=tuple(needs),
            how=(*how, *self._racks(strategy)),
        )

    def _racks(self, strategy: str) -> tuple[Fact, ...]:
        """
        What members have to tell for a rack-aware strategy to see their racks.

        Nothing where that could not change the answer: all partitions are on the same racks, or all
        members tell theirs.
        """
        asked = ASSIGNORS.get(strategy) or every().get(strategy)
        if asked is None or "racks" not in asked.needs or not self.silent:
            return ()
        return (step("tell_racks", after=self.silent, bound=len(self.group.roster)),)


def runs(group: GroupSnapshot, strategy: str) -> bool | None:
    """
    Whether this is the strategy the group has elected, by our name; None unknown.

    Which strategy a Kafka Streams application of the classic protocol runs is not on the wire; one of KIP-1071 runs
    what its broker has. A custom strategy may have another name there, which only its class knows.
    """
    if strategy == Live.name:
        return False
    if (base := base_of(strategy)) != strategy:
        return runs(group, base) if all(group.roster.send_rack) else False
    if group.places_tasks:
        if strategy == StickyTasks.SERVER:
            return group.type is GroupType.STREAMS
        may_run = group.type is GroupType.CLASSIC and strategy in {*RackStrategy, *StickyTasks}
        return None if may_run else False
    if group.assignor is None:
        return None
    if group.assignor == PLAN:
        return strategy in {PLAN, *group.roster.follows}
    elected = strategy_of(group.type, group.assignor) or group.assignor
    own = strategy not in ASSIGNORS and elected not in every()
    return strategy == elected or (None if own else False)


def untold_racks(group: GroupSnapshot) -> dict[str, list[str]]:
    """By rack, the members that are known to be there and do not send it, by their identities."""
    members = group.roster
    stray = stray_racks(members.racks, group.partitions)
    untold: dict[str, list[str]] = {}
    named = zip(members.racks, members.identities, members.send_rack, strict=True)
    for rack, identity, sends in sorted(named, key=lambda one: (one[0] or "", one[1])):
        if rack and not sends and rack not in stray:
            untold.setdefault(rack, []).append(identity)
    return untold


def brokers_lack(group: GroupSnapshot, strategy: str) -> Fact | None:
    """Why brokers cannot be asked for a server-side strategy; None where they can, as for Kafka's own unless told."""
    name, there = SERVER_SIDE[strategy], group.group_assignors
    if there is None:
        return reason("brokers_assignors_unknown", [name]) if name == BY_RACKS else None
    return None if name in there else reason("not_on_brokers", [name])
