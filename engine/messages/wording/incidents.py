"""
What somebody is woken for, in words: of each cause a headline with the number that matters, and what to do.

The first fact of a cause says what is wrong; the others, of the measures in `HOW_BAD`, how bad that is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from ...model.facts import Fact
from ...model.formats import arriving, duration, offsets, record_rate
from ...model.states import Diagnosis, TroubleKind
from ...model.text import several
from ...records import CauseSpan, IncidentCourse
from .clauses import Clause, Known, Words, count, known, partitions, subjects, whole
from .facts import words
from .pipelines import PIPELINES


def called(kind: TroubleKind) -> str:
    """
    What a kind of trouble is called in a message.

    >>> called(Diagnosis.UNKNOWN), called(Diagnosis.STOPPED)
    ('unreadable', 'stopped')
    """
    return WORDS[kind].called or kind.value


def headline(span: CauseSpan) -> str:
    """
    What is wrong in a few words, with the number that matters where it is known.

    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 3, 1, tzinfo=UTC)
    >>> headline(CauseSpan(cause=Diagnosis.NO_MEMBERS, since=at, last_seen_at=at, looks=2, amount=1200))
    'no members, 20 min behind'
    """
    kind, first = WORDS[span.cause], _first(span)
    if kind.headline is not None and first is not None:
        return kind.headline(first)
    many = amount(span.cause, span.amount) if span.amount else None
    if many is None or kind.says_it_all:
        return many or called(span.cause)
    return f"{called(span.cause)}, {many}"


def amount(cause: TroubleKind, value: float) -> str:
    """
    How bad a cause is, as `CauseSpan.amount` counts it.

    >>> amount(Diagnosis.LOSING_RECORDS, 1_600_000), amount(Diagnosis.STOPPED, 720), amount(Diagnosis.REBALANCING, 4500)
    ('1,600,000 records lost', '12 min behind', 'rebalancing for 1 h 15 min')
    """
    return WORDS[cause].amount(value)


def what_to_do(span: CauseSpan) -> str:
    """What to do next about a cause, in a sentence or two."""
    kind, first = WORDS[span.cause], _first(span)
    special = kind.to_do_about(first) if kind.to_do_about and first is not None else None
    return special or kind.to_do


def known_of(course: IncidentCourse) -> Known:
    """What is known of something wrong with a pipeline, and since when it is."""
    return {**course.causes[0].known, "since": course.began_at.isoformat()}


def summary_of(course: IncidentCourse, cluster: str) -> str:
    """
    An incident in a few words: the cause that it is called by, or what is left once that is over; whether it came back.
    Of a pipeline, what is told first when it opens.
    """
    if course.group_id is None:
        at = course.opened_at or course.began_at
        return WORDS[course.cause].what(cluster, known_of(course), at)[0]
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


_SAYS_TOO: Mapping[str, str] = {
    "no_members": "production_per_second",
    "vanished": "production_per_second",
    "stopped": "production_per_second",
    "group_load": "production_per_second",
    "catching_up": "delay_seconds",
    "losing_records": "lost_records",
    "loss_ahead": "time_to_loss_seconds",
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
    if fact.measure == "not_judged":
        return f'evenkeel failed to judge it: "{fact.quote}"'
    return words(fact)


def beside(span: CauseSpan) -> str:
    """A cause beside a worse one as one clause; when the group has caught up depends on the worse one."""
    late = next((fact for fact in span.facts if fact.measure == "catching_up"), None)
    if late is not None:
        return f"{duration(known(late.before))} behind in {partitions(late)}"
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


def _still(noun: str, state: str) -> Clause:
    """Whom or what nothing has been heard of, and for how long."""
    return lambda fact: f"{_named(fact, noun)} {state} for {duration(known(fact.after))}"


def _named(fact: Fact, noun: str) -> str:
    return subjects(fact) if count(fact) == 1 else several(count(fact), noun)


def _unread(state: str) -> Clause:
    """That nobody reads what arrives."""
    return lambda fact: (
        state if fact.after is None else f"{state}, {record_rate(fact.after)} unread"
    )


def _about(noun: str, text: str) -> Callable[[Fact], str | None]:
    """With the name of whom it is about."""
    return lambda fact: text.format(_named(fact, noun)) if fact.subjects else None


def _more_members(fact: Fact) -> str:
    needed, most = whole(fact.after), whole(fact.bound)
    more = min(needed, most) - whole(fact.before)
    start = [f"Start {several(more, 'more member')}."] if more > 0 else []
    if needed > most:
        start.append(
            f"Its {several(most, 'partition')} keep no more busy: add partitions, or make members faster."
        )
    return " ".join(start)


def _by_itself(fact: Fact) -> str | None:
    if fact.after is None:
        return None
    return "It catches up by itself; more members, or faster ones, make that sooner."


def _not_judged(fact: Fact) -> str | None:
    if fact.measure != "not_judged":
        return None
    return "Report it with the log of the task watch_groups: nothing else is told of this group meanwhile."


WORDS: Mapping[TroubleKind, Words] = {
    Diagnosis.UNKNOWN: Words(
        called="unreadable",
        headline=lambda f: f"unreadable: {f.quote}" if f.quote else f"{partitions(f)} unreadable",
        to_do="Its lag is unknown until it can be read. Check its coordinator, and the rights of evenkeel's client.",
        to_do_about=_not_judged,
    ),
    Diagnosis.NO_MEMBERS: Words(
        headline=_unread("no members"),
        to_do="Start its members again; their last log lines say why they left. They go on where they committed.",
    ),
    Diagnosis.VANISHED: Words(
        headline=_unread("vanished"),
        amount=lambda value: f"gone for {duration(value)}",
        to_do=(
            "Somebody deleted it, or its commits expired. Set its offsets before its members start again: without"
            " commits they begin where auto.offset.reset says."
        ),
    ),
    Diagnosis.REBALANCING: Words(
        amount=lambda value: f"rebalancing for {duration(value)}",
        says_it_all=True,
        to_do="Look for members that come and go: crashes, or polls that take longer than max.poll.interval.ms.",
    ),
    Diagnosis.LOSING_RECORDS: Words(
        amount=lambda value: f"{several(round(value), 'record')} lost",
        says_it_all=True,
        to_do="Raise retention.ms of these topics now, then let it catch up. What is lost is not in Kafka any more.",
    ),
    Diagnosis.SKIPPED_RECORDS: Words(
        amount=lambda value: f"{several(round(value), 'record')} skipped",
        says_it_all=True,
        to_do="Ask who set its offsets. To read what was skipped, stop its members and set the offsets back.",
    ),
    Diagnosis.LOSS_AHEAD: Words(
        headline=lambda f: f"records lost in {duration(known(f.after))}",
        to_do="Raise retention.ms of these topics now, then let it catch up.",
    ),
    Diagnosis.STOPPED: Words(
        to_do="Look in the logs of its members for a record they fail on or a service they wait for, then restart them."
    ),
    Diagnosis.SILENT_MEMBER: Words(
        headline=_still("member", "silent"),
        to_do="Look in its log for what it waits for, then restart it: others take over its partitions.",
        to_do_about=_about(
            "member",
            "Look in the log of {} for what it waits for, then restart it: others take over its partitions.",
        ),
    ),
    Diagnosis.STUCK_PARTITION: Words(
        headline=_still("partition", "stuck"),
        to_do="Look in its owner's log for a record that cannot be processed, and correct or skip that record.",
    ),
    Diagnosis.SLOW_MEMBER: Words(
        headline=lambda f: f"{subjects(f)} slow, {record_rate(known(f.after))}",
        to_do="Compare its host with those of its peers, or move it elsewhere.",
        to_do_about=_about(
            "member",
            "Compare the host of {} with those of its peers (processor, memory, network), or move it elsewhere.",
        ),
    ),
    Diagnosis.HOT_PARTITION: Words(
        headline=lambda f: f"{subjects(f)} hot, {record_rate(known(f.after))}",
        to_do="Spread its keys, add partitions, or make its consumer faster.",
        to_do_about=_about(
            "partition",
            "More members do not help {}: spread its keys, add partitions, or make its consumer faster.",
        ),
    ),
    Diagnosis.TOO_FEW_MEMBERS: Words(
        headline=lambda f: f"{several(whole(f.before), 'member')}, {whole(f.after):,} needed",
        to_do="Start more members.",
        to_do_about=_more_members,
    ),
    Diagnosis.SKEWED_LOAD: Words(
        to_do="Its load is uneven. See which assignment would help; evenkeel says so once that has paid for a while."
    ),
    Diagnosis.CATCHING_UP: Words(
        says_it_all=True,
        to_do="Look whether one member or partition lags, or all: then more members, or faster ones, help.",
        to_do_about=_by_itself,
    ),
    **PIPELINES,
}
"""One line per kind of trouble that somebody is told."""
