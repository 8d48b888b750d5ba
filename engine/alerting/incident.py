"""The messages about the pipeline itself: one when an incident opens, one when it is over."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from evenkeel.engine.alerting.events import EventKind
from evenkeel.engine.alerting.incident_message import Text, incident_message
from evenkeel.engine.message import AlertMessage, Section, Severity, Subject
from evenkeel.engine.model import IncidentKind
from evenkeel.engine.records import IncidentRow
from evenkeel.engine.wording import duration, listed, moment, sentence, several, shortened, since

ERROR = 500
"""Characters of a quoted error."""

TRIED_BY_DOCTOR = (
    IncidentKind.UNREACHABLE,
    IncidentKind.PARTIAL,
    IncidentKind.HISTORY_AWAY,
    IncidentKind.CONFIG_REFUSED,
)
"""What `evenkeel doctor` says more about."""

Facts = Mapping[str, Any]
Lines = Callable[[str, Facts, datetime], tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class _Wording:
    """
    How one kind of incident reads. *opened* and *closed* are what follows the cluster's name in the
    title.

    *what* and *effect* get (cluster, facts, now) and tell how bad it is; *todo* is what to do about
    it.
    """

    opened: str
    closed: str
    what: Lines
    effect: str
    todo: tuple[str, ...]
    afterwards: str


def opening_message(incident: IncidentRow) -> AlertMessage:
    """The message of an incident that is found; durations count to the moment it opens."""
    kind, facts = IncidentKind(incident.kind), incident.facts
    words = WORDING[kind]
    what = words.what(incident.cluster, facts, incident.opened_at)
    sections = (
        Section(heading="What", lines=what[1:]),
        Section(heading="What it said", lines=tuple(_errors(facts))),
        Section(heading="How bad", lines=(words.effect,)),
        Section(heading="What to do", lines=words.todo, code=_commands(kind)),
    )
    noticed = f"Noticed {moment(incident.opened_at)}. You hear of it again when it is over."
    text = Text(title=words.opened, summary=what[0], sections=sections, footer=(noticed,))
    at, link = incident.opened_at, _link(facts)
    return incident_message(_subject(incident), EventKind.OPENED, at, text, link=link)


def closing_message(incident: IncidentRow, ended: datetime) -> AlertMessage:
    """The message of an incident that is over since the moment *ended*."""
    words, began = WORDING[IncidentKind(incident.kind)], _began(incident)
    span = duration((ended - began).total_seconds())
    lasted = f"It lasted {span}, from {moment(began)} to {moment(ended)}."
    over, lines = words.closed, (words.afterwards, *_last_error(incident.facts))
    if incident.facts.get("unwatched"):
        over = "no longer watched"
        lines = ("The cluster is no longer configured; what was open about it is closed.",)
    was = Section(heading=f"It was: {words.opened}", lines=lines)
    text = Text(title=over, summary=lasted, sections=(was,))
    return incident_message(_subject(incident), EventKind.RESOLVED, ended, text)


def _subject(incident: IncidentRow) -> Subject:
    """The same from its opening to its end: there is one of a kind at a time."""
    opened = incident.opened_at.astimezone(UTC)
    return Subject(
        key=incident.key or f"{incident.cluster}/{incident.kind}/{opened:%Y%m%dT%H%M%SZ}",
        cluster=incident.cluster,
        group_id=incident.group_id,
        cause=incident.kind,
        severity=Severity(incident.severity),
        owner=None,
        began_at=_began(incident),
    )


def _began(incident: IncidentRow) -> datetime:
    """When the trouble itself began, which is before it was noticed."""
    began = incident.facts.get("since")
    return datetime.fromisoformat(began) if began else incident.opened_at


def _link(facts: Facts) -> str | None:
    """Where the task that failed last can be looked at; a place whose host is not known leads nowhere."""
    links = (step.get("link") or "" for step in _steps(facts))
    return next((link for link in links if link.startswith(("http://", "https://"))), None)


def _errors(facts: Facts) -> list[str]:
    return [sentence(shortened(s["error"], ERROR)) for s in _steps(facts) if s.get("error")]


def _steps(facts: Facts) -> Sequence[Facts]:
    """What is known of each step that fails; of an incident that is about none, of itself."""
    return facts.get("steps") or [facts]


def _last_error(facts: Facts) -> tuple[str, ...]:
    errors = _errors(facts)
    return (f"The last error was: {errors[-1]}",) if errors else ()


def _commands(kind: IncidentKind) -> tuple[str, ...]:
    return ("evenkeel doctor",) if kind in TRIED_BY_DOCTOR else ()


def _from(facts: Facts, now: datetime) -> str:
    return since(datetime.fromisoformat(facts["since"]), now)


def _unreachable(cluster: str, facts: Facts, now: datetime) -> tuple[str, ...]:
    newest = facts.get("newest_finished_at")
    last = (
        f"The last good snapshot was read {moment(datetime.fromisoformat(newest))}."
        if newest
        else "It has never been read."
    )
    failed, runs = several(facts["failures"], "attempt"), several(facts.get("runs", 1), "run")
    return (
        f"Reading Kafka cluster {cluster} has failed {_from(facts, now)}: {failed} in a row, of {runs}.",
        last,
    )


def _late(cluster: str, facts: Facts, now: datetime) -> tuple[str, ...]:
    limit = duration(facts["late_after_seconds"])
    if facts.get("newest_finished_at") is None:
        return (f"{cluster} was never read, {_from(facts, now)}; late is more than {limit}.",)
    return (
        f"No new snapshot of {cluster} {_from(facts, now)}; late is more than {limit}.",
        f"The newest is {facts['newest_snapshot_id']}.",
    )


def _partial(cluster: str, facts: Facts, now: datetime) -> tuple[str, ...]:
    """What could not be read, as far as it is listed."""
    snapshots = several(facts["snapshots"], "snapshot")
    rest = facts["left_out"]
    return (
        f"{snapshots} of {cluster} in a row could not be read as a whole, {_from(facts, now)}.",
        *(sentence(shortened(problem, ERROR)) for problem in facts["problems"]),
        *((f"And {several(rest, 'more problem')}.",) if rest else ()),
    )


def _rejected(cluster: str, facts: Facts, now: datetime) -> tuple[str, ...]:
    return (f"Validation rejected snapshot {facts['snapshot_id']} of {cluster} as a whole.",)


def _unwatched(cluster: str, facts: Facts, now: datetime) -> tuple[str, ...]:
    return (
        f"Nobody has looked at the groups of {cluster} {_from(facts, now)}, though snapshots come.",
        f"The newest is {facts['snapshot_id']}.",
    )


def _stuck(cluster: str, facts: Facts, now: datetime) -> tuple[str, ...]:
    waiting = several(facts["snapshots"], "snapshot")
    return (
        f"{waiting} of {cluster} without advice {_from(facts, now)}.",
        f"The oldest is {facts['snapshot_id']}.",
        *_pace(facts),
    )


def _pace(facts: Facts) -> tuple[str, ...]:
    """How long a run takes beside how often a snapshot comes, as far as either is known."""
    run, gap = facts.get("run_seconds"), facts.get("gap_seconds")
    if run is None and gap is None:
        return ()
    takes = f"A run took {duration(run)} of late" if run is not None else "No run ended of late"
    comes = (
        f"a snapshot comes every {duration(gap)}" if gap is not None else "there is one snapshot"
    )
    return (f"{takes}, {comes}.",)


def _step_failed(cluster: str, facts: Facts, now: datetime) -> tuple[str, ...]:
    steps: Sequence[Facts] = facts["steps"]
    return tuple(
        f"Step {s['step']} of {cluster} has failed {_from(s, now)}: {s['failures']} in a row."
        for s in steps
    )


def _history_away(cluster: str, facts: Facts, now: datetime) -> tuple[str, ...]:
    return (f"Nothing can be stored in the history {_from(facts, now)}.", _hit(facts))


def _config_refused(cluster: str, facts: Facts, now: datetime) -> tuple[str, ...]:
    return (f"No task can read its configuration {_from(facts, now)}.", _hit(facts))


def _hit(facts: Facts) -> str:
    """What could not be done or noted."""
    steps = listed(facts["hit"])
    return f"Hit so far: {steps} ({several(facts['runs'], 'run')})."


def _unsent(cluster: str, facts: Facts, now: datetime) -> tuple[str, ...]:
    waiting = several(facts["alerts"], "alert")
    where = ", ".join(facts["channels"])
    return (f"{waiting} of {cluster} could not be delivered to {where} {_from(facts, now)}.",)


WORDING: Mapping[IncidentKind, _Wording] = {
    IncidentKind.UNREACHABLE: _Wording(
        opened="the cluster cannot be read",
        closed="the cluster can be read again",
        what=_unreachable,
        effect="This cluster gets no lag, advice or history until it answers. Others go on.",
        todo=("Check the brokers, then address and rights of the connection:",),
        afterwards="Offsets of the time between cannot be read any more: a gap in the history.",
    ),
    IncidentKind.LATE: _Wording(
        opened="snapshots are late",
        closed="snapshots are on time again",
        what=_late,
        effect="Lag and advice shown for this cluster are old.",
        todo=("Look at the DAG snapshot_offsets: is it paused, queued, or still running?",),
        afterwards="The history has no snapshots of the time between.",
    ),
    IncidentKind.PARTIAL: _Wording(
        opened="snapshots are incomplete",
        closed="snapshots are complete again",
        what=_partial,
        effect="What could not be read has no lag and no advice; all else goes on.",
        todo=("See which brokers, groups or rights are concerned:",),
        afterwards="The last two snapshots have everything.",
    ),
    IncidentKind.REJECTED: _Wording(
        opened="the newest snapshot is rejected",
        closed="snapshots are accepted again",
        what=_rejected,
        effect="Nothing of this snapshot is advised; earlier advice stays in force.",
        todo=("See what failed: the critical rows of the table validation for this snapshot.",),
        afterwards="The rejected snapshots stay in the lake, without advice.",
    ),
    IncidentKind.UNWATCHED: _Wording(
        opened="groups are not watched",
        closed="groups are watched again",
        what=_unwatched,
        effect="What is wrong with a group of this cluster is told to nobody.",
        todo=(
            "Look at the task watch_groups of the DAG snapshot_offsets: is it queued, or killed?",
        ),
        afterwards="What was wrong with groups for the whole time between is told now.",
    ),
    IncidentKind.STUCK: _Wording(
        opened="snapshots wait for advice",
        closed="advice is up to date again",
        what=_stuck,
        effect="New lag is being recorded, but nobody is told what to do about it.",
        todo=(
            "Look at the DAG advise_assignments: is it paused, queued, or failing?",
            "A run that takes much longer than a snapshot takes to come: take them less often.",
        ),
        afterwards="The newest has its advice; those it overtook have metrics, none of their own.",
    ),
    IncidentKind.STEP_FAILED: _Wording(
        opened="a step of the pipeline fails",
        closed="the pipeline's steps work again",
        what=_step_failed,
        effect="What the step writes is missing since; nothing already stored is lost.",
        todo=("Correct the cause, then clear the failed task: a step may be run again.",),
        afterwards="The last run of every step was good.",
    ),
    IncidentKind.HISTORY_AWAY: _Wording(
        opened="the history cannot be used",
        closed="the history can be used again",
        what=_history_away,
        effect="Snapshots are kept in the lake, but there is no advice and no other alert until it is back.",
        todo=("Follow the error above. What can be made up for is made up for by itself.",),
        afterwards="What the lake has of the time between is made up for.",
    ),
    IncidentKind.CONFIG_REFUSED: _Wording(
        opened="the configuration is refused",
        closed="the configuration is read again",
        what=_config_refused,
        effect="No cluster is read, nothing is advised and nothing else is told.",
        todo=(
            "Correct what the error names; the next run reads it. This says whether it is right:",
        ),
        afterwards="Offsets of the time between cannot be read any more: a gap in the history.",
    ),
    IncidentKind.UNSENT: _Wording(
        opened="alerts do not arrive",
        closed="alerts arrive again",
        what=_unsent,
        effect="They are kept and sent, oldest first, as soon as their channel takes them.",
        todo=("Follow the error above; the next run tries again by itself.",),
        afterwards="Everything that was waiting has been sent.",
    ),
}
