"""The one message a run writes about advice: every group with news, the worst in full."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from shlex import quote
from typing import TypeVar

from ..model.assignments import AdviceState, Move, Verdict
from ..model.facts import Fact, FactKind
from ..model.message import AlertMessage, MessageKind, NewsKind, Section, Severity
from ..ports import AdvisedSnapshot, ScoredAdvice
from ..records.course import AT_ONCE, VERDICT_SECONDS, AdvicePromise
from .advice_news import News
from .wording import (
    across,
    ahead,
    and_more,
    because,
    came,
    change,
    does,
    formatted,
    listed,
    member_names,
    moment,
    possible,
    price,
    promised,
    sentence,
    several,
    shortened,
    words,
)

WORST = 8
"""Groups told in full; the others are named and counted."""

MOVES = 5
"""Moves listed per group."""

NOBODY = "(nobody)"

NAMED = 12
"""Names listed in one line."""

REASON = 400
"""Characters of one quoted reason."""

COMPARED = ("cross_rack_share", "partition_spread")
"""Columns of the score that are compared; smaller is better in all of them."""


def advice_message(
    cluster: str,
    snapshot: AdvisedSnapshot,
    news: Sequence[News],
    moves: Mapping[str, Sequence[Move]],
    *,
    verdicts: Mapping[str, int],
    owners: Mapping[str, str] | None = None,
    worst: int = WORST,
    link: str | None = None,
) -> AlertMessage:
    """
    One digest of all news of one snapshot for one channel.

    Args:
        cluster: The cluster's configured name.
        snapshot: The snapshot.
        news: What is new, worst first; at least one.
        moves: Some moves by group.
        verdicts: How many groups of the whole snapshot got which verdict.
        owners: Who owns a group, where that is configured.
        worst: How many groups are told in full.
        link: Address of the run.
    """
    full, rest = news[:worst], news[worst:]
    owned = owners or {}
    sections = [section(one, moves.get(one.group_id, ()), owned.get(one.group_id)) for one in full]
    # what is told first, and why; the section says the rest
    what = _what(full[0].advice)
    why = [line for line in _lines(full[0]) if line not in what]
    summary = " ".join([f"{_heading(full[0])}.", *why[:1]])
    left = tuple(line for line in sections[0].lines if line not in summary)
    sections[0] = replace(sections[0], lines=left)
    if rest:
        switch = NewsKind.SWITCH
        told = [f"{one.kind} to {one.strategy}" if one.kind is switch else one.kind for one in rest]
        names = [f"{one.group_id} ({what})" for one, what in zip(rest, told, strict=True)]
        heading = f"and {several(len(rest), 'more group')}"
        sections.append(Section(heading=heading, lines=(listed(names, NAMED),)))
    number = Counter(one.kind for one in news)
    counted = [
        f"{several(number[kind], 'group')} {clause}"
        for kind, (clause, _) in _CLAUSES.items()
        if number[kind]
    ]
    return AlertMessage(
        kind=MessageKind.ADVICE,
        severity=Severity.INFO,
        at=snapshot.finished_at,
        title=f"{cluster}: {', '.join(counted)}",
        summary=summary,
        sections=tuple(sections),
        more=(
            "All of it: SELECT * FROM latest_advice "
            f"WHERE cluster = '{cluster}' AND verdict = '{Verdict.SWITCH}'"
        ),
        footer=_footer(snapshot, verdicts),
        announcements=tuple(one.announcement for one in news),
        link=link,
    )


_CLAUSES: Mapping[NewsKind, tuple[str, str]] = {
    NewsKind.SWITCH: ("should switch to another assignor", "switch to {}"),
    NewsKind.MISSED: ("took up the advice in vain", "{} did not do what was predicted"),
    NewsKind.WITHDRAWN: ("should stay after all", "no longer switch to {}"),
    NewsKind.ADOPTED: ("took up the advice", "now runs {}, as advised"),
    NewsKind.VERIFIED: (
        "took up the advice and got what was predicted",
        "{} did what was predicted",
    ),
}
"""Of so many groups in a title, and of one of them with its strategy; in the order of a title."""


def _heading(news: News) -> str:
    before, said = news.announced, _CLAUSES[news.kind][1].format(news.strategy)
    if before is not None and before.kind is news.kind is NewsKind.SWITCH:
        said = f"{said} instead of {before.strategy}, told before"
    return f"{news.group_id}: {said}"


def section(news: News, moves: Sequence[Move] = (), owner: str | None = None) -> Section:
    """
    What is told of one group.

    Args:
        news: What is new.
        moves: Some of its moves.
        owner: Who owns it, where that is configured.
    """
    advice = news.advice
    lines = _lines(news)
    if owner:
        lines.append(f"Owner: {owner}.")
    code = _moves(advice, moves) if news.kind is NewsKind.SWITCH else []
    return Section(heading=_heading(news), lines=tuple(lines), code=tuple(code))


def _lines(news: News) -> list[str]:
    advice = news.advice
    what = _what(advice)
    if news.kind is NewsKind.SWITCH:
        return [*what, *_why(advice), *_switch(advice)]
    if news.kind is NewsKind.WITHDRAWN:
        return [*what, *_why(advice)] or ["Why: no reason was stored."]
    if news.kind is NewsKind.ADOPTED:
        promises = advice.uptake.promises if advice.uptake else ()
        return [*what, *(f"Predicted: {promised(one)}." for one in _after_an_hour(promises))]
    later = (sentence(came(one)) for one in _after_an_hour(advice.checks))
    return [*what, *_across(advice), *later]


def _across(advice: ScoredAdvice) -> list[str]:
    """What crosses racks since an advice for them alone was taken up, and what follows if that decided."""
    before = advice.uptake.crossed if advice.uptake else None
    lines = []
    for one in advice.checks:
        if one.after_seconds != AT_ONCE or one.realised is None or before is None:
            continue
        decided = (one.realised <= one.high) is (advice.state is AdviceState.VERIFIED)
        line = across(before, one.realised, one.high)
        lines.append(sentence(f"{line}: {advice.state}" if decided else line))
    return lines


P = TypeVar("P", bound=AdvicePromise)


def _after_an_hour(promises: Iterable[P]) -> list[P]:
    """Those that say whether an advice kept what it promised, lag first."""
    due = (one for one in promises if one.after_seconds == VERDICT_SECONDS)
    return sorted(due, key=lambda one: (one.measure != "lag", one.measure))


APART = ("forecast_", "price_")
"""How the measures begin that have lines of their own, where they are known."""


def _why(advice: ScoredAdvice) -> list[str]:
    """The reason, but for what is told apart of it."""
    foreseen = advice.forecast is not None
    facts = [
        fact
        for fact in advice.facts or ()
        if fact.kind not in (FactKind.HOW, FactKind.DIAGNOSIS)
        and not (foreseen and fact.measure.startswith(APART))
    ]
    said = because(facts) if advice.facts is not None else advice.reason
    return [f"Why: {sentence(shortened(said, REASON))}"] if said else []


def _what(advice: ScoredAdvice) -> list[str]:
    """What is the matter with the group, with names and numbers."""
    if advice.metrics is None or advice.metrics.diagnosis is None:
        return []
    why = advice.metrics.diagnosis_reason
    said = f"{advice.metrics.diagnosis}{f': {why}' if why else ''}"
    return [f"What: {sentence(shortened(said, REASON))}"]


def _switch(advice: ScoredAdvice) -> list[str]:
    """What a switch brings and costs, how it is made, and how sure that is."""
    lines = []
    if advice.live_forecast is not None and advice.forecast is not None:
        lines.append(sentence(ahead(advice.live_forecast, advice.forecast, str(advice.strategy))))
    lines += [*_effects(advice), _cost(advice)]
    lines.append(f"How: {sentence(advice.how)}" if advice.how else "How: not known.")
    lines.append(
        f"Step by step, and back: evenkeel apply {quote(advice.group_id)} --strategy {advice.strategy}"
    )
    lines.append(_certainty(advice))
    if advice.notes:
        lines.append(f"Note: {sentence(shortened('; '.join(advice.notes), REASON))}")
    if advice.best_undeployable:
        reason = sentence(advice.best_undeployable_reason or "it would do better still")
        label = possible(advice.best_undeployable_facts or ()).capitalize()
        lines.append(f"{label} here: {advice.best_undeployable}. {reason}")
    return lines


def _effects(advice: ScoredAdvice) -> list[str]:
    """What the reason leaves out, smaller gains and what gets worse; the unknown is left out."""
    reason_measures = {fact.measure for fact in advice.facts or ()}
    better: list[str] = []
    worse: list[str] = []
    for measure in COMPARED:
        before, after = (
            None if score is None else getattr(score, measure)
            for score in (advice.live, advice.proposed)
        )
        if measure in reason_measures or before is None or after is None:
            continue
        if formatted(measure, before) != formatted(measure, after):
            fact = Fact(kind=FactKind.REMARK, measure=measure, before=before, after=after)
            (better if after < before else worse).append(words(fact))
    lines = [f"Besides: {'; '.join(better)}."] if better else []
    return [*lines, f"Worse: {'; '.join(worse)}."] if worse else lines


def _cost(advice: ScoredAdvice) -> str:
    parts = []
    if advice.forecast is not None and (paid := price(advice.forecast)):
        parts.append(paid)
    score = advice.proposed
    if score is None:
        parts.append("how many partitions move is not known")
    else:
        partitions = advice.metrics and advice.metrics.partitions
        of = f" of {partitions:,}" if partitions is not None else ""
        verb = "changes" if score.moves == 1 else "change"
        parts.append(f"{score.moves:,}{of} partitions {verb} hands")
        if owned := score.newly_owned:
            parts.append(f"{does(owned, 'unowned partition', 'gets', 'get')} an owner")
    return f"Price: {'; '.join(parts)}."


def _certainty(advice: ScoredAdvice) -> str:
    """How often it won, and what of its reason is unknown, or that nothing is: racks only where it speaks of them."""
    times = advice.seen
    sure = [
        f"won in {several(times, 'snapshot')} in a row"
        if times > 1
        else "won in one snapshot so far"
    ]
    if advice.seen_since:
        sure = [f"{sure[0]}, since {moment(advice.seen_since)}"]
    lag = advice.metrics.unknown_lag_partitions if advice.metrics else None
    racks = advice.proposed.racks_left_out if advice.proposed else None
    about_racks = any(fact.measure.startswith("cross_rack") for fact in advice.facts or ())
    doubts = [f"the lag of {several(lag, 'partition')} is unknown"] if lag else []
    if about_racks and racks:
        doubts.append(f"racks of {several(racks, 'partition')} are unknown")
    if not doubts and lag is not None:
        doubts = ["no lag and no rack is unknown" if about_racks else "no lag is unknown"]
    return f"How sure: {'; '.join([*sure, *doubts])}."


def _moves(advice: ScoredAdvice, moves: Sequence[Move]) -> list[str]:
    names = member_names(advice.members)

    def name(member: str | None) -> str:
        return NOBODY if member is None else names.get(member, member)

    lines = [
        f"{m.topic}-{m.partition}: {change(name(m.from_member), name(m.to_member))}"
        for m in moves[:MOVES]
    ]
    score = advice.proposed
    left = (score.moves + score.newly_owned if score else 0) - len(lines)
    return [*lines, and_more(left).strip()] if lines and left > 0 else lines


def _footer(snapshot: AdvisedSnapshot, verdicts: Mapping[str, int]) -> tuple[str, ...]:
    counted = ", ".join(f"{n:,} {verdict}" for verdict, n in sorted(verdicts.items()))
    lines = [
        f"Snapshot {snapshot.snapshot_id}, read {moment(snapshot.finished_at)}; "
        f"{several(sum(verdicts.values()), 'group')}: {counted}.",
    ]
    if snapshot.partial:
        problems = [shortened(problem, 200) for problem in snapshot.problems]
        lines.append(
            f"The snapshot is partial: {listed(problems, 3) or 'the cause is not stored'}."
        )
    return tuple(lines)
