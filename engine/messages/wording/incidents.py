"""
Alerts in words: of each cause a headline with its number, the impact, and the action.

The first fact of a cause is the problem; the others, of the measures in `HOW_BAD`, are its severity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from ...model.facts import Fact
from ...model.formats import brief, percent, record_rate, roughly
from ...model.states import Diagnosis, IncidentKind, Mark, TroubleKind
from ...records import CauseSpan, IncidentCourse
from .clauses import Figure, filled
from .facts import words
from .pipelines import PIPELINES, Known, what_is_wrong
from .troubles import ASSIGNED_BY_HAND, IMPACTS, TROUBLES, Words, retention


def called(kind: TroubleKind) -> str:
    """
    The name of a kind of problem in a message.

    >>> called(Diagnosis.UNKNOWN), called(Diagnosis.GROUP_NOT_COMMITTING)
    ('unreadable', 'group not committing')
    """
    if isinstance(kind, IncidentKind):
        return PIPELINES[kind].called
    return TROUBLES[kind].called or kind.value


def formerly(cause: TroubleKind) -> str:
    """The name of a resolved problem."""
    return "behind" if cause is Diagnosis.CATCHING_UP else called(cause)


def headline(span: CauseSpan) -> str:
    """
    The problem in a few words, with its number if that is known.

    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 3, 1, tzinfo=UTC)
    >>> headline(CauseSpan(cause=Diagnosis.NO_MEMBERS, since=at, last_seen_at=at, snapshots=2, amount=1200))
    'no active members, 20 min behind'
    """
    kind, first = _words(span.cause), _first(span)
    if kind.headline is not None and first is not None:
        return filled(kind.headline, first)
    many = amount(span.cause, span.amount) if span.amount else None
    if many is None or kind.says_it_all:
        return many or called(span.cause)
    return f"{called(span.cause)}, {many}"


def amount(cause: TroubleKind, value: float) -> str:
    """
    The severity of a cause, as `CauseSpan.amount` counts it.

    >>> amount(Diagnosis.DATA_LOSS, 1_600_000), amount(Diagnosis.REBALANCING, 4500)
    ('1.6M records lost', 'rebalancing for 1 h 15 min')
    """
    return _words(cause).amount.format(Figure(value))


def action(span: CauseSpan) -> str:
    """The action against a cause."""
    kind, first = _words(span.cause), _first(span)
    if _has_none_to_restart(span):
        return "Start the consumers, or ignore the group if it only commits."
    about = kind.action_about(first) if first is not None and kind.action_about else None
    return about or kind.action


def remedy(diagnosis: Diagnosis, facts: Sequence[Fact]) -> str | None:
    """
    The action against a diagnosis, in the words of its alert; None for a healthy group.

    >>> from evenkeel.engine.model.facts import FactKind
    >>> remedy(Diagnosis.UNKNOWN, [Fact(kind=FactKind.DIAGNOSIS, measure="no_past", partitions=3)])
    'Take a second snapshot, of a live cluster by --samples 3.'
    """
    if diagnosis is Diagnosis.HEALTHY:
        return None
    kind = TROUBLES[diagnosis]
    first = next((fact for fact in facts if _is_what(fact)), None)
    if diagnosis is Diagnosis.UNKNOWN and first is not None and first.measure in WHAT_IS_MISSING:
        return WHAT_IS_MISSING[first.measure]
    about = kind.action_about(first) if first is not None and kind.action_about else None
    return about or kind.action


WHAT_IS_MISSING: Mapping[str, str] = {
    "no_past": "Take a second snapshot, of a live cluster by --samples 3.",
    "no_lag": "Set auto_offset_reset for groups without commits, or run evenkeel doctor.",
    "no_commit_interval": "Set commit_interval_seconds, or wait until it commits.",
    "no_time_lag": "Wait for more snapshots.",
    "no_partitions_seen": "Check the permissions of evenkeel's client on its topics.",
}
"""What tells how far behind a group is, by what is not known of it."""


def more(span: CauseSpan) -> str:
    """Background of the action."""
    kind, first = _words(span.cause), _first(span)
    if _has_none_to_restart(span):
        return ASSIGNED_BY_HAND
    if span.cause in LOSING:
        return f"{retention(kept_of(span))} {kind.more}"
    if isinstance(kind.more, str):
        return kind.more
    return kind.more(first) if first is not None else ""


def kept_of(span: CauseSpan) -> Fact | None:
    """How long the topic keeps records that loses them; None where that is unknown."""
    return next((fact for fact in span.facts if fact.measure == "retention_ms"), None)


LOSING = frozenset({Diagnosis.DATA_LOSS, Diagnosis.DATA_LOSS_IMMINENT})
"""Causes against which retention is raised."""


def _has_none_to_restart(span: CauseSpan) -> bool:
    """Whether its group may never have members: facts are known, and no member was ever seen."""
    seen = any(fact.measure == "last_members" for fact in span.facts)
    return span.cause is Diagnosis.NO_MEMBERS and not seen and _first(span) is not None


def _words(kind: TroubleKind) -> Words:
    assert isinstance(kind, Diagnosis), f"{kind} is no trouble of a group"
    return TROUBLES[kind]


def known_of(course: IncidentCourse) -> Known:
    """The known values of a pipeline's problem, with its beginning."""
    return {**course.causes[0].known, "since": course.began_at.isoformat()}


def summary_of(course: IncidentCourse, cluster: str) -> str:
    """
    An incident in a few words: its main cause, or a remaining one after that is over, and whether it is flapping. Of a
    pipeline, the first sentence of its message.
    """
    if isinstance(course.cause, IncidentKind):
        at = course.opened_at or course.began_at
        return what_is_wrong(course.cause, cluster, known_of(course), at)[0]
    named = next((span for span in course.causes if span.cause is course.cause), None)
    left = next((span for span in course.causes if not span.missed), None)
    clauses = [headline(named) if named else called(course.cause)]
    if left and (named is None or named.missed):
        clauses = [headline(left), f"{called(course.cause)} before"]
    if course.over_at:
        clauses.append(came_back(course.over_at, course.began_at))
    return "; ".join(clauses)


def _first(span: CauseSpan) -> Fact | None:
    """The fact of the problem; None if only its severity is known."""
    return next((fact for fact in span.facts if _is_what(fact)), None)


def _is_what(fact: Fact) -> bool:
    return fact.measure not in {*HOW_BAD, *TRACES, "retention_ms"}


HOW_BAD: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "total_lag": ("lag", lambda value: f"lag {brief(value)}"),
    "delay_seconds": ("time behind", lambda value: f"{roughly(value)} behind"),
    "production_per_second": ("incoming rate", lambda value: f"{record_rate(value)} incoming"),
    "time_to_loss_seconds": ("time to data loss", lambda value: f"data loss in {roughly(value)}"),
    "lost_records": ("lost records", lambda value: f"{brief(value)} records lost"),
    "retention_used": ("retention used", lambda value: f"{percent(value)} of retention used"),
}
"""Measures of severity, most of them columns of `GroupMetrics`: the name of each, and the form of a value."""

MARKS: Mapping[Mark, str] = {
    Mark.HALF_OF_RETENTION: "half of retention is used",
    Mark.LOSS_AT_HAND: "data loss is minutes away",
}
"""Marks on the way to data loss."""

TRACES = frozenset({"silent_hosts", "stuck_at", "open_transaction", "last_members", "last_commit"})
"""Measures that help to act: hosts, offsets, last members and commits."""


def traces(facts: Iterable[Fact]) -> tuple[str, ...]:
    """
    Hosts, offsets, last members and commits.

    >>> from evenkeel.engine.model.facts import FactKind
    >>> traces([Fact(kind=FactKind.DIAGNOSIS, measure="silent_hosts", subjects=("10.0.0.7",))])
    ('host 10.0.0.7',)
    """
    return tuple(words(fact) for fact in facts if fact.measure in TRACES)


def impact(facts: Iterable[Fact]) -> str:
    """
    The problem and its impact as one clause; of several problems of one kind the first, and the number of others.

    >>> from evenkeel.engine.model.facts import FactKind
    >>> def hot(name):
    ...     return Fact(kind=FactKind.DIAGNOSIS, measure="hot_partition", subjects=(name,), after=90, bound=60)
    >>> impact([hot("orders-0"), hot("orders-1")])
    'one member consumes orders-0, and the fastest processes 60 records/s, and 1 more like that'
    """
    alike: dict[str, list[Fact]] = {}
    for fact in facts:
        if _is_what(fact):
            alike.setdefault(fact.measure, []).append(fact)
    if "group_load" in alike:
        alike.pop(Diagnosis.UNDER_PROVISIONED.measure, None)
    return "; ".join(
        _clause(first) + (f", and {len(rest):,} more like that" if rest else "")
        for first, *rest in alike.values()
    )


def _clause(fact: Fact) -> str:
    return filled(IMPACTS[fact.measure], fact) if fact.measure in IMPACTS else words(fact)


def how_bad(span: CauseSpan | None, facts: Sequence[Fact], shown: str = "") -> str:
    """
    Severity and growth as one clause, each measure once and none that the text has already; unknown values are named.

    >>> from evenkeel.engine.model.facts import FactKind
    >>> def known(measure, after): return Fact(kind=FactKind.DIAGNOSIS, measure=measure, after=after)
    >>> how_bad(None, [known("total_lag", 12400), known("delay_seconds", None)])
    'lag 12.4k, time behind unknown'
    >>> how_bad(None, [known("total_lag", 12400), known("delay_seconds", 60)], "orders: 1 min behind")
    'lag 12.4k'
    """
    growth = span and _growth(span)
    clauses = []
    for measure, value in {f.measure: f.after for f in facts if f.measure in HOW_BAD}.items():
        name, reads = HOW_BAD[measure]
        clause = f"{name} unknown" if value is None else reads(value)
        if clause not in shown and not (growth and measure == "production_per_second"):
            clauses.append(clause)
            if growth and measure == "total_lag":
                clauses.append(f"growing by {record_rate(growth)}")
    return ", ".join(clauses)


def _growth(span: CauseSpan) -> float | None:
    first, value = _first(span), _words(span.cause).growth
    return getattr(first, value) if first is not None and value else None


def came_back(over_at: datetime, began_at: datetime) -> str:
    """
    The time between the end of an incident and its return.

    >>> from datetime import UTC
    >>> came_back(datetime(2026, 3, 1, 1, 10, tzinfo=UTC), datetime(2026, 3, 1, 1, 30, tzinfo=UTC))
    'back 20 min after it was resolved'
    """
    return f"back {roughly((began_at - over_at).total_seconds())} after it was resolved"
