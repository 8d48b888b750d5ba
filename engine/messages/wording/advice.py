"""Why a group is told what it is told, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile

from ...model.facts import Fact, FactKind, of_kind
from .clauses import filled, partitions
from .facts import joined, strategies, words
from .lifecycle import LAST_SNAPSHOTS


def because(facts: Sequence[Fact]) -> str:
    """
    The facts behind a verdict as one clause: the reason with the gains and losses it speaks of, then what was found.

    >>> gain = Fact(kind=FactKind.GAIN, measure="unowned", before=5, after=0)
    >>> because([gain])
    '5 unowned partitions get an owner'
    >>> because([Fact(kind=FactKind.REASON, measure="to_be_confirmed", subjects=("range",), after=1, bound=2), gain])
    'range would help (5 unowned partitions get an owner), to be confirmed: won in 1 of the last 2 snapshots'
    """
    reasons = of_kind(facts, FactKind.REASON)
    found = of_kind(facts, FactKind.FINDING, FactKind.DIAGNOSIS)
    gains, losses = (joined(_with_remarks(facts, kind)) for kind in (FactKind.GAIN, FactKind.LOSS))
    told = [_glued(reasons, lambda reason: _reason(reason, gains, losses, facts)) or gains]
    return "; ".join([part for part in (*told, *map(words, found)) if part])


def possible(facts: Sequence[Fact]) -> str:
    """
    What is said before the best strategy that a group is not advised, by what is said of it: whether it could be had.

    >>> from evenkeel.engine.model.facts import reason
    >>> possible([]), possible([reason("policy_forbids", ["class"])])
    ('possible, not deployable', 'possible, not allowed')
    """
    forbidden = any(fact.measure == "policy_forbids" for fact in facts)
    return "possible, not allowed" if forbidden else "possible, not deployable"


_AFTER = {"racks_play_no_part": ": "}
_BEFORE = {
    "shipping_class": " ",
    "after_racks_told": ", ",
    "first_won": ", ",
    "adopted_at": ", ",
    "missed_at": ", ",
}
"""What stands between a reason of this measure and the next one, or the one before."""


def reasons(facts: Iterable[Fact]) -> str:
    """
    Why a strategy can or cannot run, as one clause.

    >>> from evenkeel.engine.model.facts import reason
    >>> reasons([reason("runs_it"), reason("listed_beside_eager")])
    'the strategy it runs; listed beside eager ones, it starts afresh at every rebalance'
    >>> reasons([reason("after_two_restarts"), reason("shipping_class"), reason("nobody_lists_it")])
    'after two rolling restarts that add it and ships its class with every member; no member lists it'
    """
    return _glued(facts, words)


def how(facts: Iterable[Fact]) -> str | None:
    """
    What to do to get a strategy, in sentences; None where nothing is known.

    >>> from evenkeel.engine.model.facts import FactKind
    >>> how([Fact(kind=FactKind.HOW, measure="ship_class", subjects=("fair",))])
    'Ship io.evenkeel.EvenkeelFairAssignor with every member.'
    """
    return " ".join(map(words, facts)) or None


def _glued(facts: Iterable[Fact], clause: Callable[[Fact], str]) -> str:
    whole, between = "", ""
    for fact in facts:
        whole += (whole and _BEFORE.get(fact.measure, between)) + clause(fact)
        between = _AFTER.get(fact.measure, "; ")
    return whole


def _with_remarks(facts: Sequence[Fact], kind: FactKind) -> list[Fact]:
    """The facts of a kind, each with the remarks behind it."""
    kept: list[Fact] = []
    last = None
    for fact in facts:
        last = last if fact.kind is FactKind.REMARK else fact.kind
        kept += [fact] if last is kind else []
    return kept


def _behind(facts: Sequence[Fact], reason: Fact) -> str:
    """The remarks right behind a reason."""
    after = facts[facts.index(reason) + 1 :]
    return ", ".join(map(words, takewhile(lambda fact: fact.kind is FactKind.REMARK, after)))


_VERDICTS: Mapping[str, str] = {
    "policy_forbids": "{gains}; {names} is not among what policy.deployment allows",
    "nothing_deployable": "there is no strategy that it could deploy",
    "no_live_assignment": "there is no live assignment to compare with",
    "diagnosis_unknown": "too little is known yet to blame the assignment",
    "no_forecast": "what a switch would bring is not known yet: a forecast needs two snapshots",
    "gain_not_sure": "{by} would do better, but not for sure by as much as the policy asks ({how})",
    "could_be_more_even": "could be more even with {by} ({how}), by itself no reason to switch",
    "saves_too_little": "what {by} would save is too little for a switch: {how}",
    "could_be_nearer": (
        "fewer partitions would cross racks with {by} ({how}); what these carry is not known yet"
    ),
    "gain_with_loss": "{by} would gain ({gains}) but lose ({losses})",
    "to_be_confirmed": "{by} would help{why}, to be confirmed: won in {last}",
    "has_won": "{by} won in {last}{why}",
    "still_advised": "{by} would help by earlier snapshots{why}: won in {last}",
    "nothing_to_gain": "nothing to gain: {by} {verb} no better by as much as the policy asks",
    "unknown_lag": "{lag} is unknown, and nothing else is to gain",
    "assignment_not_to_blame": "{by}: no other assignment mends that",
    "restarting_no_help": "{by}: a restart would not help in time, or too little is known",
}
"""
Reasons that speak of the facts beside them: *by*, the strategies; *how*, the remarks right behind it; *gains* and
*losses*, *names*, the subjects, *why*, the gains in brackets; *last*, in how many of the last snapshots it won.
"""


def _reason(fact: Fact, gains: str, losses: str, facts: Sequence[Fact]) -> str:
    if fact.measure not in _VERDICTS:
        return words(fact)
    said = _VERDICTS[fact.measure]
    return said.format(
        by=strategies(fact),
        names=", ".join(fact.subjects),
        how=_behind(facts, fact),
        gains=gains,
        losses=losses,
        why=f" ({gains})" if gains else "",
        last=filled(LAST_SNAPSHOTS, fact) if "{last}" in said else "",
        lag=f"the lag of {partitions(fact)}" if fact.partitions else "its lag",
        verb="is" if len(fact.subjects) == 1 else "are",
    )
