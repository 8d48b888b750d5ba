"""What `evenkeel elect` prints."""

from __future__ import annotations

from collections.abc import Sequence

from ...advice.rolling_restarts import RestartPlan
from ...assignors.kafka.election import REFUSED
from ...messages.wording import ARROW, how, member_names, several, why_elected, words
from ...model.formats import NOTHING, UNKNOWN
from ...model.groups import Member
from ..election_source import HeldElection
from .columns import Shown, table
from .tables import Table, show, tell, text

_REBALANCE = {True: "eager", False: "cooperative", None: UNKNOWN}


def show_elections(elections: Sequence[HeldElection]) -> None:
    """Each group's election, an empty line between two."""
    for place, held in enumerate(elections):
        if place:
            print()
        names = member_names(held.members)
        members = several(len(held.members), "member")
        runs = f", runs {held.runs}" if held.runs else ""
        head = f"{held.group}: {held.state}, {held.type.value}, {members}{runs}"
        made_up = f"A made-up group of {members}"
        lines = [made_up if held.group is None else head, *_outcome(held, names)]
        tell([text(line) for line in lines])
        if any(listed is not None for listed in held.lists.values()):
            print()
            show([_ballots(held, names)])
        if held.plan:
            _show_plan(held.plan)


def _outcome(held: HeldElection, names: dict[str, str]) -> list[str]:
    lines = [f"  {words(remark)}" for remark in held.remarks]
    if not held.elects:
        return lines
    election = held.election
    if election is None:
        runs = f"{held.runs}, says the broker; who votes for what is not known"
        elected = f"  Elects: {runs if held.runs else 'not known, nor who votes for what'}"
    elif election.elected is None:
        elected = "  Elects: nothing, nobody is let in"
    else:
        elected = f"  Elects: {election.elected}; {why_elected(election.poll)}"
    return [elected, *_leader(held, names), *lines]


def _leader(held: HeldElection, names: dict[str, str]) -> list[str]:
    walk = [names[member] for member in held.coordinator_order]
    if held.election and held.election.leader:
        after = held.election.next_leader(held.election.leader)
        follows = f"if it leaves, {names[after]} leads" if after else "nobody else is there"
        return [f"  Leads: {names[held.election.leader]}, the first to join; {follows}"]
    if not walk or held.group is None:
        return []
    second = f", or {walk[1]} if {walk[0]} is the one that leaves" if len(walk) > 1 else ""
    return [f"  Leads: not on the wire; if the leader leaves, {walk[0]} leads{second}"]


def _ballots(held: HeldElection, names: dict[str, str]) -> Table:
    election = held.election
    refused = election.refused if election else {}

    def standing(member: Member) -> str:
        if member.id not in refused:
            return "yes"
        shared = ", ".join(refused[member.id])
        return text(
            f"no, {REFUSED}: those before it share {shared}" if shared else f"no, {REFUSED}"
        )

    def vote(member: Member) -> str:
        ballot = election.ballots.get(member.id) if election else None
        return text(ballot, NOTHING if election else UNKNOWN)

    return table(
        [
            ("Member", lambda member: text(names[member.id])),
            ("Lists", lambda member: text(", ".join(held.lists.get(member.id) or ()), UNKNOWN)),
            ("Votes for", vote),
            *([("Let in", standing)] if refused else []),
        ],
        held.members,
    )


def _show_plan(plan: RestartPlan) -> None:
    way = f"{plan.present or UNKNOWN} {ARROW} {plan.target}"
    if not plan.steps:
        tell(["", text(f"Plan, {way}: {how(plan.how)}")])
        return
    restarts = several(plan.restarts, "rolling restart")
    tell(["", text(f"Plan, {way}: {restarts} of {several(plan.members, 'member')}")])
    for number, step in enumerate(plan.steps, 1):
        spare = "" if step.needed else " (may be left out)"
        tell([text(f"  {number}. {step.setting}{spare}"), text(f"     {words(step.why)}")])
    stages = [
        (number, step, stage) for number, step in enumerate(plan.steps, 1) for stage in step.stages
    ]
    if stages:
        columns: list[Shown] = [
            ("Restart", lambda one: str(one[0])),
            ("Restarted", lambda one: _count(one[2].first, one[2].last, plan.members)),
            ("Elected", lambda one: text(one[2].elected)),
            ("Restarted ones\nrebalance", lambda one: _REBALANCE[one[1].eager]),
        ]
        print()
        show([table(columns, stages)])
    remarks = [
        ("Assumed", plan.assumed and words(plan.assumed)),
        ("In one step", how(plan.in_one_step)),
    ]
    remarks += [("Note", words(note)) for note in plan.notes]
    tell(["", *(text(f"{what}: {line}") for what, line in remarks if line)])


def _count(first: int, last: int, members: int) -> str:
    """
    >>> _count(1, 2, 3), _count(3, 3, 3)
    ('1-2 of 3', '3 of 3')
    """
    return f"{first} of {members}" if first == last else f"{first}-{last} of {members}"
