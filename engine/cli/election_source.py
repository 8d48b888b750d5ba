"""What `evenkeel elect` finds: the election of an example group or of one that was read, and a restart plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..advice.feasibility import no_follower, unfit
from ..advice.listed_protocols import Listed, doubt, election_of, lists_of
from ..advice.rolling_restarts import RestartPlan, plan, plan_server
from ..assignors import every
from ..assignors.kafka.election import Election, elect
from ..assignors.kafka.protocol_names import (
    CLIENT_SIDE,
    RACK_SETTING,
    SERVER_SIDE,
    base_of,
    cooperative,
    strategy_of,
    wire_name,
    wire_names,
)
from ..config import Settings
from ..messages.wording import how, why_elected, words
from ..model.assignments import Deployment
from ..model.command import command_in_text
from ..model.errors import InputError, no_strategy
from ..model.facts import Fact, note, reason
from ..model.groups import GroupSnapshot, Member
from ..model.states import STREAMS_PROTOCOL, GroupType


@dataclass(frozen=True, kw_only=True)
class HeldElection:
    """
    An election as far as it could be held.

    Attributes:
        group: The group id; None for an example.
        type: What kind of group it is.
        state: As the broker reports; None for an example.
        runs: What it has elected, as the broker reports, by its protocol name.
        members: In the order in which the coordinator holds them; of an example, as they joined.
        lists: What they list, and *said_by* whom.
        election: None where a list is not known, or where nothing is elected.
        elects: Whether it is of the kind that elects anything.
        remarks: Further notes.
        plan: The way to another strategy, where one was asked for and there is one.
    """

    group: str | None
    type: GroupType
    state: str | None
    runs: str | None
    members: tuple[Member, ...]
    lists: Listed
    said_by: str | None
    election: Election | None
    elects: bool = True
    remarks: tuple[Fact, ...] = ()
    plan: RestartPlan | None = None

    @property
    def coordinator_order(self) -> tuple[str, ...]:
        """The members in the order of the coordinator's map."""
        order = self.election.coordinator_order if self.election else ()
        return order or tuple(member.id for member in self.members)

    def to_json(self) -> dict[str, Any]:
        """One object; what is not known is null."""
        election = self.election
        leader = election.leader if election else None
        return {
            "group": self.group,
            "group_type": self.type.value,
            "state": self.state,
            "runs": self.runs,
            "strategy": strategy_of(self.type, self.runs) if self.runs else None,
            "elected": election.elected if election else None,
            "why": why_elected(election.poll) if election else None,
            "candidates": election.poll.candidates if election else None,
            "votes": election.votes if election else None,
            "lists_said_by": self.said_by,
            "leader": leader,
            "next_leader": election.next_leader(leader) if election and leader else None,
            "coordinator_order": self.coordinator_order if self.elects else None,
            "members": [
                {
                    "member": member.id,
                    "client_id": member.client_id,
                    "host": member.host or None,
                    "instance_id": member.instance_id,
                    "assignors": self.lists.get(member.id),
                    "vote": election.ballots.get(member.id) if election else None,
                    "refused": member.id in election.refused if election else None,
                }
                for member in self.members
            ],
            "remarks": [words(remark) for remark in self.remarks],
            "plan": _plan_object(self.plan) if self.plan else None,
        }


def _plan_object(way: RestartPlan) -> dict[str, Any]:
    """A plan as one object, its notes in sentences."""
    steps = [asdict(step) | {"why": words(step.why)} for step in way.steps]
    return asdict(way) | {
        "steps": steps,
        "how": how(way.how),
        "in_one_step": how(way.in_one_step),
        "notes": [words(note) for note in way.notes],
        "assumed": way.assumed and words(way.assumed),
        "restarts": way.restarts,
    }


def made_up(described: Sequence[str], to: str | None = None) -> HeldElection:
    """
    The election among members of an example group.

    Args:
        described: `ID=LIST` each, in the order in which they join.
        to: A strategy to plan the way to.

    Raises:
        InputError: A description is none, or the strategy cannot be planned for.
    """
    lists: dict[str, tuple[str, ...]] = {}
    for text in described:
        name, _, listed = text.rpartition("=")
        if not name or not listed:
            raise InputError(
                f"--member {text!r} is not ID=LIST.",
                fix="Write for example c1=range,cooperative-sticky.",
            )
        if name in lists:
            raise InputError(f"--member {name} is there twice.", fix="Name each member once.")
        lists[name] = _parsed(f"--member {name}", listed)
    election = elect(lists)
    held = HeldElection(
        group=None,
        type=GroupType.CLASSIC,
        state=None,
        runs=None,
        members=tuple(Member(id=name, client_id=name, host="") for name in lists),
        lists=lists,
        said_by="command line",
        election=election,
        remarks=tuple(_remarks_on(lists, election)),
    )
    if to is None or election.elected is None:
        return held
    way = plan(target(to, lists), election.elected, list(election.lists.values()))
    return replace(held, plan=way)


def _parsed(where: str, listed: str) -> tuple[str, ...]:
    try:
        return wire_names(listed.split(","))
    except InputError as problem:
        raise InputError(f"{where}: {problem.message}", fix=problem.fix) from None


def held_by(
    group: GroupSnapshot, settings: Settings, assignors: str | None = None, to: str | None = None
) -> HeldElection:
    """
    The election of a group that was read.

    Args:
        group: The group.
        settings: Configuration, which may say what members list.
        assignors: What all of them list, over what configuration says.
        to: A strategy to plan the way to.

    Raises:
        InputError: The list is none, or there is no such strategy.
    """
    configured = settings.rule(group.cluster, group.group).assignors
    given = None if assignors is None else _parsed("--assignors", assignors)
    lists = lists_of(group.roster, given or configured)
    why_none = unfit(group)
    if why_none is None and group.type is GroupType.CONSUMER:
        why_none = reason("elects_nothing", [group.assignor] if group.assignor else [])
    election = None if why_none else election_of(group, lists)
    known = why_none is None and any(listed is not None for listed in lists.values())
    held = HeldElection(
        group=group.group,
        type=group.type,
        state=group.state,
        runs=group.assignor,
        members=group.members,
        lists={} if why_none else lists,
        said_by=("command line" if given else "configuration") if known else None,
        election=election,
        elects=why_none is None,
        remarks=(why_none,) if why_none else tuple(_remarks(group, lists, election)),
    )
    return held if to is None else _planned(held, group, target(to, lists, group.group), lists)


def _remarks(group: GroupSnapshot, lists: Listed, election: Election | None) -> list[Fact]:
    remarks: list[Fact] = []
    if group.rebalancing:
        remarks.append(note("elected_untold", [group.state]))
    unknown = sum(listed is None for listed in lists.values())
    if unknown == len(lists):
        remarks.append(note("lists_untold"))
    elif unknown:
        remarks.append(note("lists_of_some_unknown", after=unknown, bound=len(lists)))
    doubted = doubt(group, lists, election)
    if doubted:
        remarks.append(doubted)
    if group.assignor and not strategy_of(group.type, group.assignor):
        known = group.assignor in every()
        remarks += [] if known else [note("assignor_not_emulated", [group.assignor])]
    return [*remarks, *_remarks_on(lists, election)]


def _remarks_on(lists: Listed, election: Election | None) -> list[Fact]:
    """Notes on lists, whichever members have them."""
    named = dict.fromkeys(name for listed in lists.values() for name in listed or ())
    ours = {*CLIENT_SIDE, STREAMS_PROTOCOL, *every()}
    remarks = [note("unknown_assignor", [name]) for name in named if name not in ours]
    elected = election.elected if election else None
    if elected is None or election is None or not cooperative([elected]):
        return remarks
    eager = sum(cooperative(listed) is False for listed in election.lists.values())
    if eager:
        members = len(election.lists)
        remarks.append(note("eager_beside_cooperative", [elected], after=eager, bound=members))
    return remarks


def target(name: str, lists: Listed, group: str | None = None) -> str:
    """
    A strategy that a group can be brought to.

    Raises:
        InputError: There is none of that name, or no member can be set to it; the fix names the group.
    """
    if name != base_of(name):
        raise InputError(
            f"--to: no group elects {name!r}: {RACK_SETTING} is a setting, not a strategy.",
            fix=f"Set {RACK_SETTING} on every member."
            if group is None
            else f"See `{command_in_text('evenkeel runbook --group {} --strategy {}', group, name)}`.",
        )
    wire = wire_name(name)
    known = every()
    listed = any(wire in (names or ()) for names in lists.values())
    if name in SERVER_SIDE or wire in CLIENT_SIDE or listed or "." in wire:
        return name
    if name not in known:
        names = [*(one.strategy for one in CLIENT_SIDE.values()), *SERVER_SIDE]
        raise no_strategy(name, names, at="--to: ", more=", or the class of your own")
    deployment = known[name].deployment
    if deployment in (Deployment.SETTING, Deployment.CLASS):
        return name
    why = (
        how(no_follower(*([] if group is None else [group])).how)
        if deployment in (Deployment.PLAN, Deployment.BASELINE)
        else "It is shown for comparison only."
    )
    raise InputError(f"--to: no member can be set to {name}.", fix=why)


def _planned(held: HeldElection, group: GroupSnapshot, to: str, lists: Listed) -> HeldElection:
    """With the way to a strategy, or with why there is none."""
    present = group.assignor or (held.election.elected if held.election else None)
    try:
        if unfit(group) is not None:
            remark = note("no_way", [to])
        elif group.type is GroupType.CONSUMER:
            classic = sum(member.kind == "classic" for member in group.members)
            static = [member.is_static for member in group.members]
            way = plan_server(
                to, group.assignor, len(group.members), classic, static, group.kafka_release
            )
            return replace(held, plan=way)
        elif present is None:
            remark = note("no_way_planned", [to])
        else:
            static = [member.is_static for member in group.members]
            return replace(held, plan=plan(to, present, list(lists.values()), static))
    except InputError as problem:
        remark = note("no_way", [to], quote=str(problem))
    return replace(held, remarks=(*held.remarks, remark))
