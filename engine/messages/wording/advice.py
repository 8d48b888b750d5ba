"""Why a group gets its advice, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile

from ...model.facts import Fact, FactKind, of_kind
from .clauses import filled, partitions
from .facts import joined, strategies, words


def because(facts: Sequence[Fact]) -> str:
    """
    The facts behind a verdict as one clause: the reason with its gains and losses, then the findings.

    >>> gain = Fact(kind=FactKind.GAIN, measure="unowned", before=5, after=0)
    >>> because([gain])
    '5 unowned partitions get an owner'
    >>> because([Fact(kind=FactKind.REASON, measure="to_be_confirmed", subjects=("range",), after=8, bound=20), gain])
    'range would help (5 unowned partitions get an owner); pending: evidence 8 of 20'
    """
    reasons = of_kind(facts, FactKind.REASON)
    found = of_kind(facts, FactKind.FINDING, FactKind.DIAGNOSIS)
    gains, losses = (joined(_with_remarks(facts, kind)) for kind in (FactKind.GAIN, FactKind.LOSS))
    parts = [_glued(reasons, lambda reason: _reason(reason, gains, losses, facts)) or gains]
    return "; ".join([part for part in (*parts, *map(words, found)) if part])


def possible(facts: Sequence[Fact]) -> str:
    """
    The label of the best strategy that evenkeel doesn't advise for a group: not deployable, or not allowed.

    >>> from evenkeel.engine.model.facts import reason
    >>> possible([]), possible([reason("policy_forbids", ["class"])])
    ('possible, not deployable', 'possible, not allowed')
    """
    forbidden = any(fact.measure == "policy_forbids" for fact in facts)
    return "possible, not allowed" if forbidden else "possible, not deployable"


_AFTER = {"racks_play_no_part": ": "}
_BEFORE = {
    "shipping_class": ", ",
    "after_racks_told": ", ",
    "claimed_since": ", ",
    "adopted_at": ", ",
    "missed_at": ", ",
}
"""The separator between a reason of this measure and the next one, or the previous one."""


def reasons(facts: Iterable[Fact]) -> str:
    """
    Why a strategy can or cannot run, as one clause.

    >>> from evenkeel.engine.model.facts import reason
    >>> reasons([reason("runs_it"), reason("listed_beside_eager")])
    'the current strategy; listed with eager strategies, it reassigns all partitions in each rebalance'
    >>> reasons([reason("after_two_restarts"), reason("shipping_class"), reason("nobody_lists_it")])
    'after two rolling restarts that add it, with its class on every member; no member lists it'
    """
    return _glued(facts, words)


def how(facts: Iterable[Fact]) -> str | None:
    """
    What to do to get a strategy, in sentences; None where nothing is known.

    >>> from evenkeel.engine.model.facts import FactKind
    >>> how([Fact(kind=FactKind.HOW, measure="ship_class", subjects=("fair",))])
    'Add io.evenkeel.EvenkeelFairAssignor to the classpath of every member.'
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
    "policy_forbids": "{gains}; policy.deployment doesn't allow {names}",
    "nothing_deployable": "no strategy can be deployed on this group",
    "no_live_assignment": "no current assignment to compare with",
    "diagnosis_unknown": "too little is known yet to attribute this to the assignment",
    "no_forecast": "no forecast yet: it needs two snapshots",
    "gain_not_sure": "{by} would be better, but not reliably by the minimum gain of the policy ({how})",
    "could_be_more_even": "{by} would be more even ({how}), which alone doesn't justify a switch",
    "saves_too_little": "{by} would save too little to justify a switch: {how}",
    "could_be_nearer": (
        "{by} would read fewer partitions across racks ({how}), but their traffic is not known yet"
    ),
    "gain_with_loss": "{by} has gains ({gains}) and losses ({losses})",
    "to_be_confirmed": "{by} would help{why}; pending: evidence {evidence}",
    "is_confirmed": "{by} would help{why}",
    "still_advised": "{by} would help{why}, by earlier snapshots",
    "nothing_to_gain": "no better strategy: {by} {verb} within the minimum gain of the policy",
    "unknown_lag": "{lag} is unknown, and no other gain is known",
    "assignment_not_to_blame": "{by}: no other assignment fixes this",
    "no_strategy_helps": "{by}: no strategy that this group can deploy would help enough",
    "restarting_no_help": "{by}: a restart wouldn't help in time, or too little is known",
}
"""
Reasons that include other facts: *by*, the strategies; *how*, the remarks after it; *gains* and *losses*; *names*, the
subjects; *why*, the gains in brackets; *evidence*, how much of what is needed.
"""


def _reason(fact: Fact, gains: str, losses: str, facts: Sequence[Fact]) -> str:
    if fact.measure not in _VERDICTS:
        return words(fact)
    template = _VERDICTS[fact.measure]
    return template.format(
        by=strategies(fact),
        names=", ".join(fact.subjects),
        how=_behind(facts, fact),
        gains=gains,
        losses=losses,
        why=f" ({gains})" if gains else "",
        evidence=filled("{after} of {bound}", fact) if "{evidence}" in template else "",
        lag=f"the lag of {partitions(fact)}" if fact.partitions else "its lag",
        verb="is" if len(fact.subjects) == 1 else "are",
    )
