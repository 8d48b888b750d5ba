"""The message of a run about advice: all groups with news, the worst in full in its thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ..model.assignments import AdviceState, Move
from ..model.command import command, command_in_text
from ..model.facts import Fact, FactKind
from ..model.formats import minute
from ..model.message import AlertMessage, MessageKind, NewsKind, Section, Severity
from ..model.states import Diagnosis
from ..ports import AdvisedSnapshot, ScoredAdvice
from ..records.lifecycle import AT_ONCE, VERDICT_SECONDS, AdviceCheck, AdvicePromise
from .advice_news import News
from .incident_message import (
    BETWEEN,
    LINE,
    NAME,
    fitted,
    in_lines,
    next_command,
    titled,
)
from .wording import (
    across,
    and_more,
    because,
    change,
    does,
    formatted,
    listed,
    member_names,
    possible,
    sentence,
    several,
    shortened,
    words,
)
from .wording.forecasts import (
    came,
    expected,
    foreseen,
    if_stayed,
    in_short,
    price,
    promised,
    saved,
    spread,
)
from .wording.incidents import impact

WORST = 8
"""Groups that a thread has in full; it names the others."""

MOVES = 5
"""Moves listed per group."""

NOBODY = "(none)"

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
    owners: Mapping[str, str] | None = None,
    worst: int = WORST,
    link: str | None = None,
) -> tuple[AlertMessage, AlertMessage | None]:
    """
    One digest of all news of one snapshot for one channel, and the groups in full for its thread; news of one group are
    a message about that group, without a thread.

    Args:
        cluster: The cluster's configured name.
        snapshot: The snapshot.
        news: The news, worst first; at least one.
        moves: Some moves by group.
        owners: Owner of a group, if configured.
        worst: How many groups the thread has in full.
        link: Address of the run.
    """
    full, rest = news[:worst], news[worst:]
    owned = owners or {}
    told = [told_of(cluster, one, moves.get(one.group_id, ())) for one in full]
    first = told[0]
    message = AlertMessage(
        kind=MessageKind.ADVICE,
        severity=Severity.INFO,
        at=snapshot.finished_at,
        title=titled(first.group, cluster, first.headline),
        summary=first.impact,
        action=first.action,
        sections=first.sections,
        footer=_footer(snapshot),
        announcements=tuple(one.announcement for one in news),
        link=link,
        snapshot_id=snapshot.snapshot_id,
    )
    if len(news) == 1:
        owner = owned.get(first.group)
        owns = (f"Owner: {fitted(owner, NAME)}",) if owner else ()
        return replace(message, footer=(*owns, *message.footer)), None
    number = Counter(one.kind for one in news)
    counted = ", ".join(f"{number[kind]:,} {kind}" for kind in NewsKind if number[kind])
    digest = replace(
        message,
        title=titled(cluster, None, f"advice for {several(len(news), 'group')}"),
        summary=f"{counted}, most urgent first.",
        action=None,
        sections=tuple(Section(heading="", lines=(line,)) for line in _in_lines(news)),
        more=f"All open switches: {command_in_text('evenkeel query open_switches --param cluster={}', cluster)}",
    )
    sections = [section(one, owned.get(one.group)) for one in told]
    if rest:
        names = [f"{one.group_id} ({one.kind} {one.strategy})" for one in rest]
        heading = f"and {several(len(rest), 'more group')}"
        sections.append(Section(heading=heading, lines=(listed(names, NAMED),)))
    thread = replace(
        digest,
        title=titled(cluster, None, f"advice for {several(len(news), 'group')}, in full"),
        sections=tuple(sections),
        announcements=(),
        footer=(),
        more=None,
    )
    return digest, thread


def _in_lines(news: Sequence[News]) -> list[str]:
    """A line for each of the first, and how many more there are."""
    shown = in_lines(news)
    lines = [fitted(f"{fitted(one.group_id, NAME)}: {_headline(one)}") for one in shown]
    if rest := Counter(one.kind for one in news[len(shown) :]):
        counted = ", ".join(f"{rest[kind]:,} {kind}" for kind in NewsKind if rest[kind])
        lines.append(f"and {rest.total():,} more: {counted}")
    return lines


@dataclass(frozen=True, kw_only=True)
class Told:
    """
    The text about one group.

    Attributes:
        group: Its id.
        headline: The news in a few words, with one number.
        impact: The reason, in a sentence or two.
        action: The action; None: no action.
        sections: The details, then the command.
    """

    group: str
    headline: str
    impact: str
    action: str | None
    sections: tuple[Section, ...]


def told_of(cluster: str, news: News, moves: Sequence[Move] = ()) -> Told:
    """
    The text about one group.

    Args:
        cluster: The cluster's configured name.
        news: Its news.
        moves: Some of its moves.
    """
    advice = news.advice
    lines, following = _lines(news, moves), _command(cluster, news)
    impact = " ".join([*_outcome(news), *_problem(advice)]) or "No reason was stored."
    sections = [Section(heading=label, lines=(line,)) for label, line in lines if line]
    return Told(
        group=news.group_id,
        headline=_headline(news),
        impact=impact,
        action=_action(news),
        sections=(*sections, Section(heading="Next", code=(following,))),
    )


def section(told: Told, owner: str | None = None) -> Section:
    """The same among others."""
    lines = [" ".join(filter(None, (told.impact, told.action)))]
    lines += [f"{each.heading}: {line}" for each in told.sections for line in each.lines]
    if owner:
        lines.append(f"Owner: {fitted(owner, NAME)}")
    code = told.sections[-1].code
    return Section(heading=f"{told.group}: {told.headline}", lines=tuple(lines), code=code)


def _headline(news: News) -> str:
    advice, strategy = news.advice, news.strategy
    match news.kind:
        case NewsKind.SWITCH:
            before, told = advice.metrics and advice.metrics.assignor, news.announced
            what = f"switch {change(before, strategy)}" if before else f"switch to {strategy}"
            if told is not None and told.kind is NewsKind.SWITCH:
                what += f" instead of {told.strategy}"
            return f"{what}{_in_an_hour(advice)}"
        case NewsKind.WITHDRAWN:
            return f"switch to {strategy} withdrawn"
        case NewsKind.ADOPTED:
            promises = advice.uptake.promises if advice.uptake else ()
            clauses = (f"forecast {expected(one)}" for one in _after_an_hour(promises))
            return f"{strategy} adopted{_first(clauses)}"
        case NewsKind.UNCLEAR:
            return f"{strategy} made no clear difference to the lag"
        case NewsKind.VERIFIED:
            return _verdict(strategy, advice, "verified", "met its forecast")
        case NewsKind.MISSED:
            return _verdict(strategy, advice, "did not help", "missed its forecast")


def _verdict(strategy: str, advice: ScoredAdvice, helped: str, promised: str) -> str:
    """The outcome by the difference to the assignment before; by the forecast where that decided."""
    hour = _after_an_hour(advice.checks)
    differences = _differences(advice)
    if differences:
        return f"{strategy} {helped}: {differences[0]}"
    return f"{strategy} {promised}{_first(map(came, hour))}"


def _differences(advice: ScoredAdvice) -> list[str]:
    """What the assignment before would have brought an hour later, and what came: how late first; nothing of racks."""
    if advice.uptake is None or advice.uptake.crossed is not None:
        return []
    said = (if_stayed(check) for check in reversed(_after_an_hour(advice.checks)))
    return [each for each in said if each is not None]


def _first(clauses: Iterable[str]) -> str:
    return next((f", {clause}" for clause in clauses), "")


def _in_an_hour(advice: ScoredAdvice) -> str:
    """The lag in an hour with the current and the other strategy; if equal, the cross-rack share."""
    live, other = advice.live_forecast, advice.forecast
    if live is not None and other is not None:
        before, after = in_short(live.forecast_lag_expected), in_short(other.forecast_lag_expected)
        if before != after:
            return f", lag in 1 h {change(before, after)}"
    share = next((f for f in advice.facts or () if f.measure == "cross_rack_share"), None)
    return f", {words(share)}" if share is not None else ""


def _action(news: News) -> str | None:
    match news.kind:
        case NewsKind.SWITCH:
            how = news.advice.how
            return sentence(shortened(how, REASON)) if how else f"Switch to {news.strategy}."
        case NewsKind.WITHDRAWN:
            return f"Don't switch to {news.strategy}."
        case NewsKind.MISSED:
            return "Check what else changed in the group."
    return None


def _command(cluster: str, news: News) -> str:
    group, strategy = news.group_id, news.strategy
    if news.kind is not NewsKind.SWITCH:
        return next_command(cluster, group, Diagnosis.CATCHING_UP, None)
    return command(
        "evenkeel runbook --group {} --cluster {} --strategy {}", group, cluster, strategy
    )


def _lines(news: News, moves: Sequence[Move]) -> list[tuple[str, str]]:
    advice = news.advice
    if news.kind is NewsKind.SWITCH:
        return [("Effect", _why(advice)), *_switch(news), ("Moves", _moves(advice, moves))]
    if news.kind is NewsKind.WITHDRAWN:
        return [("Why", _why(advice))]
    if news.kind is NewsKind.ADOPTED:
        promises = advice.uptake.promises if advice.uptake else ()
        return [("Forecast", BETWEEN.join(map(promised, _after_an_hour(promises))))]
    return []


def _outcome(news: News) -> list[str]:
    """The outcome of an adopted advice."""
    if news.kind not in (NewsKind.UNCLEAR, NewsKind.VERIFIED, NewsKind.MISSED):
        return []
    advice = news.advice
    hour = _after_an_hour(advice.checks)
    later = (sentence(foreseen(one)) for one in hour)
    first = 0 if news.kind is NewsKind.UNCLEAR else 1  # the headline has that
    more = (sentence(each) for each in _differences(advice)[first:])
    return [*_across(advice), *more, *_saved(hour), *later]


def _saved(checks: Iterable[AdviceCheck]) -> Iterator[str]:
    """What the switch has saved since it began, where it is sure that it has, or has not."""
    for check in checks:
        low, high = check.saved_low, check.saved_high
        if check.saved is not None and low is not None and high is not None and low * high > 0:
            yield sentence(saved(check.saved))


def _across(advice: ScoredAdvice) -> list[str]:
    """Cross-rack reads since the adoption of an advice about racks, and the verdict if that decided."""
    before = advice.uptake.crossed if advice.uptake else None
    lines = []
    for one in advice.checks:
        if one.after_seconds != AT_ONCE or one.actual is None or before is None:
            continue
        decided = (one.actual <= one.high) is (advice.state is AdviceState.VERIFIED)
        line = across(before, one.actual, one.high)
        outcome = "met" if advice.state is AdviceState.VERIFIED else "missed"
        lines.append(sentence(f"{line}: forecast {outcome}" if decided else line))
    return lines


P = TypeVar("P", bound=AdvicePromise)


def _after_an_hour(promises: Iterable[P]) -> list[P]:
    """The forecasts that decide the verdict of an advice, lag first."""
    due = (one for one in promises if one.after_seconds == VERDICT_SECONDS)
    return sorted(due, key=lambda one: (one.measure != "lag", one.measure))


APART = ("forecast_", "price_")
"""Prefixes of measures with lines of their own, if known."""


def _why(advice: ScoredAdvice) -> str:
    """The reason, without the measures that have lines of their own."""
    foreseen = advice.forecast is not None
    facts = [
        fact
        for fact in advice.facts or ()
        if fact.kind not in (FactKind.HOW, FactKind.DIAGNOSIS)
        and not (foreseen and fact.measure.startswith(APART))
    ]
    reason = because(facts) if advice.facts is not None else advice.reason
    return shortened(reason or "", REASON)


def _problem(advice: ScoredAdvice) -> list[str]:
    """The problem of the group, with names and numbers."""
    if advice.metrics is None or advice.metrics.diagnosis is None:
        return []
    facts = [fact for fact in advice.facts or () if fact.kind is FactKind.DIAGNOSIS]
    why = impact(facts) or advice.metrics.diagnosis_reason
    problem = f"{advice.metrics.diagnosis}{f': {why}' if why else ''}"
    return [sentence(shortened(problem, REASON))]


def _switch(news: News) -> list[tuple[str, str]]:
    """Cost and confidence of a switch, and other effects."""
    advice = news.advice
    also = _effects(advice)
    if advice.notes:
        also.append(shortened("; ".join(advice.notes), REASON))
    if advice.best_undeployable:
        reason = advice.best_undeployable_reason or "better still"
        label = possible(advice.best_undeployable_facts or ())
        also.append(f"{label} here: {advice.best_undeployable} ({reason})")
    return [
        ("Cost", _cost(advice)),
        ("Confidence", BETWEEN.join(_certainty(advice))),
        ("Also", BETWEEN.join(also)),
    ]


def _effects(advice: ScoredAdvice) -> list[str]:
    """Smaller gains and losses that the reason leaves out; unknown ones are left out."""
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
    return [*better, *(f"{each} (worse)" for each in worse)]


def _cost(advice: ScoredAdvice) -> str:
    parts = []
    if advice.forecast is not None and (paid := price(advice.forecast)):
        parts.append(paid)
    score = advice.proposed
    if score is None:
        parts.append("number of moved partitions unknown")
    else:
        partitions = advice.metrics and advice.metrics.partitions
        of = f" of {partitions:,}" if partitions is not None else ""
        verb = "moves" if score.moves == 1 else "move"
        parts.append(f"{score.moves:,}{of} partitions {verb}")
        if owned := score.newly_owned:
            parts.append(f"{does(owned, 'unowned partition', 'gets', 'get')} an owner")
    return ", ".join(parts)


def _certainty(advice: ScoredAdvice) -> list[str]:
    """Snapshots in which it would help, p10 and p90 of the lag, and unknown values of its reason."""
    times = advice.seen
    pays = f"would help in {several(times, 'snapshot')}"
    sure = [f"{pays} since {minute(advice.claim.since)}" if advice.claim else pays]
    if advice.live_forecast is not None and advice.forecast is not None:
        before, after = spread(advice.live_forecast), spread(advice.forecast)
        sure.append(f"p10-p90 {before if before == after else change(before, after)}")
    lag = advice.metrics.unknown_lag_partitions if advice.metrics else None
    racks = advice.proposed.racks_left_out if advice.proposed else None
    about_racks = any(fact.measure.startswith("cross_rack") for fact in advice.facts or ())
    doubts = [f"lag of {several(lag, 'partition')} unknown"] if lag else []
    if about_racks and racks:
        doubts.append(f"racks of {several(racks, 'partition')} unknown")
    if not doubts and lag is not None:
        doubts = ["all lags and racks known" if about_racks else "all lags known"]
    return [*sure, *doubts]


def _moves(advice: ScoredAdvice, moves: Sequence[Move]) -> str:
    names = member_names(advice.members)

    def name(member: str | None) -> str:
        return NOBODY if member is None else names.get(member, member)

    shown = [
        f"{m.topic}-{m.partition}: {change(name(m.from_member), name(m.to_member))}"
        for m in moves[:MOVES]
    ]
    score = advice.proposed
    left = (score.moves + score.newly_owned if score else 0) - len(shown)
    return fitted(BETWEEN.join(shown), 2 * LINE) + (and_more(left) if shown else "")


def _footer(snapshot: AdvisedSnapshot) -> tuple[str, ...]:
    verdicts = snapshot.verdicts
    counted = ", ".join(f"{n:,} {verdict}" for verdict, n in sorted(verdicts.items()))
    lines = [f"{several(sum(verdicts.values()), 'group')} in the cluster: {counted}"]
    if snapshot.partial:
        problems = [shortened(problem, 200) for problem in snapshot.problems]
        lines.append(f"The snapshot is partial: {listed(problems, 3) or 'the cause is unknown'}.")
    return tuple(lines)
