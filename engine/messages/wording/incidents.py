"""
What somebody is woken for, in words: of each cause a headline with the number that matters, and what to do.

The first fact of a cause says what is wrong; the others, of the measures in `HOW_BAD`, how bad that is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from ...model.facts import Fact
from ...model.formats import arriving, duration, offsets
from ...model.states import Diagnosis, IncidentKind, TroubleKind
from ...model.text import several
from ...records import CauseSpan, IncidentCourse
from .clauses import Figure, filled
from .facts import words
from .pipelines import PIPELINES, Known, what_is_wrong
from .troubles import TROUBLES, Words


def called(kind: TroubleKind) -> str:
    """
    What a kind of trouble is called in a message.

    >>> called(Diagnosis.UNKNOWN), called(Diagnosis.GROUP_NOT_COMMITTING)
    ('unreadable', 'group not committing')
    """
    if isinstance(kind, IncidentKind):
        return PIPELINES[kind].called
    return TROUBLES[kind].called or kind.value


def headline(span: CauseSpan) -> str:
    """
    What is wrong in a few words, with the number that matters where it is known.

    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 3, 1, tzinfo=UTC)
    >>> headline(CauseSpan(cause=Diagnosis.NO_MEMBERS, since=at, last_seen_at=at, snapshots=2, amount=1200))
    'no members, 20 min behind'
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
    How bad a cause is, as `CauseSpan.amount` counts it.

    >>> amount(Diagnosis.DATA_LOSS, 1_600_000), amount(Diagnosis.REBALANCING, 4500)
    ('1,600,000 records lost', 'rebalancing for 1 h 15 min')
    """
    return _words(cause).amount.format(Figure(value))


def what_to_do(span: CauseSpan) -> str:
    """What to do next about a cause, in a sentence or two."""
    kind, first = _words(span.cause), _first(span)
    about = kind.to_do_about
    if first is None or about is None:
        return kind.to_do
    if isinstance(about, str):
        return filled(about, first) if first.subjects else kind.to_do
    return about(first) or kind.to_do


def _words(kind: TroubleKind) -> Words:
    assert isinstance(kind, Diagnosis), f"{kind} is no trouble of a group"
    return TROUBLES[kind]


def known_of(course: IncidentCourse) -> Known:
    """What is known of something wrong with a pipeline, and since when it is."""
    return {**course.causes[0].known, "since": course.began_at.isoformat()}


def summary_of(course: IncidentCourse, cluster: str) -> str:
    """
    An incident in a few words: the cause that it is called by, or what is left once that is over; whether it came back.
    Of a pipeline, what is told first when it opens.
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
    """What says what is wrong; None where only how bad it is is known."""
    return next((fact for fact in span.facts if _is_what(fact)), None)


def _is_what(fact: Fact) -> bool:
    return fact.measure not in HOW_BAD and fact.measure not in TRACES


HOW_BAD: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "total_lag": ("lag", lambda value: f"{offsets(round(value))} to read"),
    "delay_seconds": ("how far it is behind", lambda value: f"{duration(value)} behind"),
    "production_per_second": ("what arrives", arriving),
    "time_to_loss_seconds": ("when records are lost", lambda v: f"records lost in {duration(v)}"),
    "lost_records": ("what is lost", lambda value: f"{several(round(value), 'record')} lost"),
}
"""Measures of how bad something is, columns of `GroupMetrics`: how each is called, and a value of it."""

TRACES: Mapping[str, str] = {
    "silent_hosts": "Where",
    "stuck_at": "Where",
    "last_members": "Last there",
    "last_commit": "Last there",
}
"""Measures of what helps whoever is to act: under which heading each stands."""


def traces(facts: Iterable[Fact]) -> Mapping[str, str]:
    """
    Where to look, or who was there last: a clause under each heading.

    >>> from evenkeel.engine.model.facts import FactKind
    >>> traces([Fact(kind=FactKind.DIAGNOSIS, measure="silent_hosts", subjects=("10.0.0.7",))])
    {'Where': 'host 10.0.0.7'}
    """
    clauses: dict[str, list[str]] = {}
    for fact in facts:
        if fact.measure in TRACES:
            clauses.setdefault(TRACES[fact.measure], []).append(words(fact))
    return {heading: "; ".join(its) for heading, its in clauses.items()}


_SAYS_TOO: Mapping[str, str | None] = {
    **{kind.measure: its.says_too for kind, its in TROUBLES.items()},
    "group_load": "production_per_second",
}
"""What a clause about a measure says of how bad it is, so that it is not said again."""


def what(facts: Iterable[Fact]) -> str:
    """
    What is wrong as one clause, without how bad it is; of several things of one kind the first, and how many more.

    >>> from evenkeel.engine.model.facts import FactKind
    >>> def hot(name):
    ...     return Fact(kind=FactKind.DIAGNOSIS, measure="hot_partition", subjects=(name,), after=90, bound=60)
    >>> what([hot("orders-0"), hot("orders-1")])
    '90 records/s arrive in orders-0, the best member does 60 records/s, and 1 more like that'
    """
    alike: dict[str, list[Fact]] = {}
    for fact in facts:
        if _is_what(fact):
            alike.setdefault(fact.measure, []).append(fact)
    return "; ".join(
        _clause(first) + (f", and {len(rest):,} more like that" if rest else "")
        for first, *rest in alike.values()
    )


def _clause(fact: Fact) -> str:
    """A fact about what is wrong; what Kafka answered is quoted."""
    if fact.measure == "unreadable":
        return f'it could not be read: "{fact.quote}"' if fact.quote else "nothing says why"
    if fact.measure == "not_evaluated":
        return f'evenkeel failed to judge it: "{fact.quote}"'
    return words(fact)


def beside(span: CauseSpan) -> str:
    """A cause beside a worse one as one clause; when the group has caught up depends on the worse one."""
    late = next((fact for fact in span.facts if fact.measure == "catching_up"), None)
    if late is not None:
        return filled("{before:duration} behind in {partitions}", late)
    clause = what(span.facts)
    return f"{called(span.cause)}: {clause}" if clause else called(span.cause)


def how_bad(facts: Sequence[Fact]) -> str:
    """
    How bad it is as one clause, each measure once and none that is said already; the unknown is said to be that.

    >>> from evenkeel.engine.model.facts import FactKind
    >>> def known(measure, after): return Fact(kind=FactKind.DIAGNOSIS, measure=measure, after=after)
    >>> how_bad([known("total_lag", 12400), known("delay_seconds", None)])
    '12,400 offsets to read; how far it is behind is unknown'
    """
    over = {_SAYS_TOO.get(fact.measure) for fact in facts}
    values = {f.measure: f.after for f in facts if f.measure in HOW_BAD and f.measure not in over}
    clauses = []
    for measure, value in values.items():
        name, reads = HOW_BAD[measure]
        clauses.append(f"{name} is unknown" if value is None else reads(value))
    return "; ".join(clauses)


def came_back(over_at: datetime, began_at: datetime) -> str:
    """
    That something came back, and how soon.

    >>> from datetime import UTC
    >>> came_back(datetime(2026, 3, 1, 1, 10, tzinfo=UTC), datetime(2026, 3, 1, 1, 30, tzinfo=UTC))
    'came back 20 min after it was over'
    """
    return f"came back {duration((began_at - over_at).total_seconds())} after it was over"
