"""What `evenkeel elect` prints."""

from __future__ import annotations

from collections.abc import Sequence

from ...advice.rolling_restarts import RestartPlan
from ...assignors.kafka.election import REFUSED
from ...messages.wording import how, member_names, several, why_elected, words
from ...model.command import command_in_text
from ...model.facts import note
from ...model.formats import NOTHING, UNKNOWN, change, number
from ...model.groups import Member
from ...model.text import shortened
from ..election_source import HeldElection
from .columns import Shown, table
from .fleet import MOST_NAME, cut_to
from .strategy_names import named_ours, ours, words_of_strategies
from .tables import Table, screen_width, show, tell, tell_answer, tell_labelled, tell_legend, text

_REBALANCE = {True: "eager", False: "cooperative", None: UNKNOWN}

NOTE = 40
"""As many characters of a note are shown beside other groups."""


def show_elections(elections: Sequence[HeldElection], *, wide: bool = False) -> None:
    """
    Print elections: a row per group, or one in full.

    Args:
        elections: Of each group.
        wide: Whether each is printed in full.
    """
    if len(elections) > 1 and not wide and not any(held.plan for held in elections):
        _show_overview(elections)
        return
    for place, held in enumerate(elections):
        if place:
            print()
        _show_election(held, wide=wide)


def _show_overview(elections: Sequence[HeldElection]) -> None:
    """Groups that refuse members first, those that elect nothing last."""
    width = screen_width()
    groups = sorted(elections, key=lambda held: (not held.elects, -_refused(held), held.group))
    elect, refuse = sum(held.elects for held in groups), sum(map(bool, map(_refused, groups)))
    told = f"{several(len(groups), 'group')}, {elect:,} with an elected strategy"
    tell([told + (f", {refuse:,} with refused members" if refuse else ""), ""], width=width)
    overview = table(
        [
            ("GROUP", lambda held: cut_to(text(held.group), MOST_NAME)),
            ("STATE", lambda held: text(held.state, UNKNOWN)),
            (">MEMBERS", lambda held: number(len(held.members))),
            ("ELECTED", _elected),
            ("LEADER", _leads),
            ("NOTE", lambda held: text(shortened("; ".join(_notes(held)), NOTE))),
        ],
        groups,
        spare=["STATE", "MEMBERS", "LEADER"],
    )
    show([overview], legend=False)
    unknown = sum(_lists_unknown(held) for held in groups)
    if unknown:
        tell(["", f"{words(note('lists_untold'))} ({several(unknown, 'group')})"], width=width)
    name = next((held.group for held in groups if held.elects), groups[0].group) or ""
    restarts = (
        f"{command_in_text('evenkeel elect --group {} --to STRATEGY', name)} adds the restarts"
    )
    tell_legend([overview], restarts, "--wide or --json has everything", width=width)


def _refused(held: HeldElection) -> int:
    return len(held.election.refused) if held.election else 0


def _lists_unknown(held: HeldElection) -> bool:
    return any(remark.measure == "lists_untold" for remark in held.remarks)


def _notes(held: HeldElection) -> list[str]:
    refused = _refused(held)
    told = [words(remark) for remark in held.remarks if remark.measure != "lists_untold"]
    return [*([f"{several(refused, 'member')} refused"] if refused else []), *told]


def _elected(held: HeldElection) -> str:
    """What a group elects by its members' lists, else what it runs."""
    elected = held.election.elected if held.election else held.runs
    return ours(text(elected, UNKNOWN)) if held.elects else NOTHING


def _leads(held: HeldElection) -> str:
    leader = held.election.leader if held.election else None
    name = text(member_names(held.members)[leader]) if leader else UNKNOWN
    return name if held.elects else NOTHING


def _show_election(held: HeldElection, *, wide: bool) -> None:
    width = screen_width()
    names = member_names(held.members)
    members = several(len(held.members), "member")
    name = cut_to(text(held.group), MOST_NAME)
    head = f"{name}: {text(held.state, UNKNOWN)}, {held.type.value}, {members}"
    remarks = (("Note", words(remark)) for remark in held.remarks)
    headline = f"Example group of {members}" if held.group is None else head
    tell_answer(headline, [*_outcome(held, names), *remarks])
    if any(listed is not None for listed in held.lists.values()):
        print()
        show([_ballots(held, names)], wide=wide)
    if held.plan:
        _show_plan(held.plan, width)


def _outcome(held: HeldElection, names: dict[str, str]) -> list[tuple[str, str | None]]:
    """What is elected, who leads, why, and who is refused."""
    if not held.elects:
        return [("Elected", "nothing")]
    election = held.election
    leader = _leader(held, names)
    if election is None:
        runs = f"{ours(held.runs)}, as the broker reports" if held.runs else "unknown"
        return [("Elected", f"{runs}; votes unknown"), ("Leader", leader)]
    if election.elected is None:
        return [("Elected", "nothing: no member is let in")]

    def refused(shared: Sequence[str]) -> str:
        return f"{REFUSED}, those before it share {_listed(shared)}" if shared else REFUSED

    return [
        ("Elected", ours(election.elected)),
        ("Leader", leader),
        ("Why", why_elected(election.poll)),
        *(
            ("Refused", f"{names[member]}: {refused(shared)}")
            for member, shared in election.refused.items()
        ),
    ]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(ours, names))


def _leader(held: HeldElection, names: dict[str, str]) -> str | None:
    walk = [names[member] for member in held.coordinator_order]
    if held.election and held.election.leader:
        after = held.election.next_leader(held.election.leader)
        follows = f"if it leaves, {names[after]} leads" if after else "no other member is there"
        return f"{names[held.election.leader]}, the first to join; {follows}"
    if not walk or held.group is None:
        return None
    second = f", or {walk[1]} if {walk[0]} is the leader" if len(walk) > 1 else ""
    return f"unknown (not exposed by the Kafka protocol); if it leaves, {walk[0]} leads{second}"


def _ballots(held: HeldElection, names: dict[str, str]) -> Table:
    election = held.election
    refused = election.refused if election else {}

    def vote(member: Member) -> str:
        if member.id in refused:
            return "refused"
        ballot = election.ballots.get(member.id) if election else None
        return ours(text(ballot, NOTHING if election else UNKNOWN))

    return table(
        [
            ("MEMBER", lambda member: text(names[member.id])),
            ("LISTS", lambda member: text(_listed(held.lists.get(member.id) or ()), UNKNOWN)),
            ("VOTE", vote),
        ],
        sorted(held.members, key=lambda member: member.id not in refused),
    )


def _show_plan(plan: RestartPlan, width: int) -> None:
    way = change(ours(plan.present or UNKNOWN), ours(plan.target))
    if not plan.steps:
        tell(["", text(f"{way}: {how(plan.how)}")], width=width)
        return
    restarts, members = several(plan.restarts, "rolling restart"), several(plan.members, "member")
    tell(["", text(f"{way}: {restarts} of {members}"), ""], width=width)
    for place, step in enumerate(plan.steps, 1):
        optional = "" if step.needed else " (optional)"
        why = f"{words_of_strategies(step.why)}{optional}"
        tell_labelled([(f"Restart {place}", step.setting), ("", why)], width)
    stages = [
        (place, step, stage) for place, step in enumerate(plan.steps, 1) for stage in step.stages
    ]
    if stages:
        columns: list[Shown] = [
            ("RESTART", lambda one: str(one[0])),
            ("RESTARTED", lambda one: _count(one[2].first, one[2].last, plan.members)),
            ("ELECTED", lambda one: ours(text(one[2].elected))),
            ("REBALANCE", lambda one: _REBALANCE[one[1].eager]),
        ]
        print()
        show([table(columns, stages)])
    remarks: list[tuple[str, str | None]] = [
        ("Assumed", words_of_strategies(plan.assumed) if plan.assumed else None),
        ("At once", how([named_ours(each) for each in plan.in_one_step])),
        *(("Note", words_of_strategies(each)) for each in plan.notes),
    ]
    print()
    tell_labelled(remarks, width)


def _count(first: int, last: int, members: int) -> str:
    """
    >>> _count(1, 2, 3), _count(3, 3, 3)
    ('1-2 of 3', '3 of 3')
    """
    return f"{first} of {members}" if first == last else f"{first}-{last} of {members}"
