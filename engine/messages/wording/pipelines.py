"""What is wrong with the pipeline itself, in words: of each kind what, how bad that is, what to do, and its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ...model.formats import moment, since
from ...model.states import IncidentKind
from ...model.text import listed, sentence, several, shortened
from .clauses import Figure

ERROR = 500
"""Characters of a quoted error."""

Known = Mapping[str, Any]
"""What is known of something wrong with a pipeline, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineWords:
    """
    How one kind of trouble of a pipeline reads.

    Attributes:
        called: Its name.
        over: What it is called when it is over.
        what: What is wrong, in sentences of which the first stands alone: templates, or functions that make some.
        effect: How bad that is.
        to_do: What to do next, a line each.
        afterwards: What is left of it once it is over.
        doctor: Whether `evenkeel doctor` says more about it.
    """

    called: str
    over: str
    what: tuple[str | Callable[[Known], Sequence[str]], ...]
    effect: str
    to_do: str
    afterwards: str
    doctor: bool = False


def what_is_wrong(kind: IncidentKind, cluster: str, known: Known, now: datetime) -> tuple[str, ...]:
    """What is wrong with the pipeline of a cluster at a moment, in sentences of which the first stands alone."""
    values = {
        name: Figure(value) if isinstance(value, int | float) else value
        for name, value in ({"runs": 1} | dict(known)).items()
    } | {"cluster": cluster, "now": now, "since": _since(known, now)}
    said: list[str] = []
    for each in PIPELINES[kind].what:
        said += [each.format_map(values)] if isinstance(each, str) else each(values)
    return tuple(said)


def errors(known: Known) -> list[str]:
    """What each step that fails said last; of what is about none, what that itself says."""
    told = known.get("steps") or [known]
    return [sentence(shortened(each["error"], ERROR)) for each in told if each.get("error")]


def _since(known: Known, now: datetime) -> str:
    return since(datetime.fromisoformat(known["since"]), now)


def _last_good(known: Known) -> Sequence[str]:
    newest = known.get("newest_finished_at")
    if not newest:
        return ["It has never been read."]
    return [f"The last good snapshot was read {moment(datetime.fromisoformat(newest))}."]


def _late(known: Known) -> Sequence[str]:
    late = "{since}; late is more than {stale_after_seconds:duration}."
    if known.get("newest_finished_at") is None:
        return [f"{{cluster}} was never read, {late}".format_map(known)]
    newest = f"The newest is {known['newest_snapshot_id']}."
    return [f"No new snapshot of {{cluster}} {late}".format_map(known), newest]


def _unread(known: Known) -> Sequence[str]:
    """What could not be read, as far as it is listed."""
    problems = [sentence(shortened(problem, ERROR)) for problem in known["problems"]]
    rest = known["left_out"].value
    return [*problems, *([f"And {several(rest, 'more problem')}."] if rest else [])]


def _pace(known: Known) -> Sequence[str]:
    """How long a run takes beside how often a snapshot comes, as far as either is known."""
    run, gap = known.get("run_seconds"), known.get("gap_seconds")
    if run is None and gap is None:
        return ()
    takes = f"A run took {run:duration} of late" if run is not None else "No run ended of late"
    comes = f"a snapshot comes every {gap:duration}" if gap is not None else "there is one snapshot"
    return [f"{takes}, {comes}."]


def _steps(known: Known) -> Sequence[str]:
    return [
        f"Step {s['step']} of {known['cluster']} has failed {_since(s, known['now'])}: {s['failures']} in a row."
        for s in known["steps"]
    ]


def _hit(known: Known) -> Sequence[str]:
    """What could not be done or noted."""
    return [f"Hit so far: {listed(known['hit'])} ({known['runs']:run})."]


def _undelivered(known: Known) -> Sequence[str]:
    where = ", ".join(known["channels"])
    return [
        f"{known['alerts']:alert} of {known['cluster']} could not be delivered to {where} {known['since']}."
    ]


GAP = "Offsets of the time between cannot be read any more: a gap in the history."

PIPELINES: Mapping[IncidentKind, PipelineWords] = {
    IncidentKind.UNREACHABLE: PipelineWords(
        called="the cluster cannot be read",
        over="the cluster can be read again",
        what=(
            "Reading Kafka cluster {cluster} has failed {since}: {failures:attempt} in a row, of {runs:run}.",
            _last_good,
        ),
        doctor=True,
        effect="This cluster gets no lag, advice or history until it answers. Others go on.",
        to_do="Check the brokers, then address and rights of the connection:",
        afterwards=GAP,
    ),
    IncidentKind.STALE: PipelineWords(
        called="snapshots are late",
        over="snapshots are on time again",
        what=(_late,),
        effect="Lag and advice shown for this cluster are old.",
        to_do="Look at the DAG snapshot_offsets: is it paused, queued, or still running?",
        afterwards="The history has no snapshots of the time between.",
    ),
    IncidentKind.PARTIAL: PipelineWords(
        called="snapshots are incomplete",
        over="snapshots are complete again",
        what=(
            "{snapshots:snapshot} of {cluster} in a row could not be read as a whole, {since}.",
            _unread,
        ),
        doctor=True,
        effect="What could not be read has no lag and no advice; all else goes on.",
        to_do="See which brokers, groups or rights are concerned:",
        afterwards="The last two snapshots have everything.",
    ),
    IncidentKind.REJECTED: PipelineWords(
        called="the newest snapshot is rejected",
        over="snapshots are accepted again",
        what=("Validation rejected snapshot {snapshot_id} of {cluster} as a whole.",),
        effect="Nothing of this snapshot is advised; earlier advice stays in force.",
        to_do="See what failed: the critical rows of the table validation for this snapshot.",
        afterwards="The rejected snapshots stay in the lake, without advice.",
    ),
    IncidentKind.UNWATCHED: PipelineWords(
        called="groups are not watched",
        over="groups are watched again",
        what=(
            "Nobody has looked at the groups of {cluster} {since}, though snapshots come.",
            "The newest is {snapshot_id}.",
        ),
        effect="What is wrong with a group of this cluster is told to nobody.",
        to_do="Look at the task watch_groups of the DAG snapshot_offsets: is it queued, or killed?",
        afterwards="What was wrong with groups for the whole time between is told now.",
    ),
    IncidentKind.STUCK: PipelineWords(
        called="snapshots wait for advice",
        over="advice is up to date again",
        what=(
            "{snapshots:snapshot} of {cluster} without advice {since}.",
            "The oldest is {snapshot_id}.",
            _pace,
        ),
        effect="New lag is being recorded, but nobody is told what to do about it.",
        to_do="Look at the DAG advise_assignments: is it paused, queued, or failing?\n"
        "A run that takes much longer than a snapshot takes to come: take them less often.",
        afterwards="The newest has its advice; those it overtook have metrics, none of their own.",
    ),
    IncidentKind.STEP_FAILED: PipelineWords(
        called="a step of the pipeline fails",
        over="the pipeline's steps work again",
        what=(_steps,),
        effect="What the step writes is missing since; nothing already stored is lost.",
        to_do="Correct the cause, then clear the failed task: a step may be run again.",
        afterwards="The last run of every step was good.",
    ),
    IncidentKind.HISTORY_AWAY: PipelineWords(
        called="the history cannot be used",
        over="the history can be used again",
        what=("Nothing can be stored in the history {since}.", _hit),
        doctor=True,
        effect="Snapshots are kept in the lake, but there is no advice and no other alert until it is back.",
        to_do="Follow the error above. What can be made up for is made up for by itself.",
        afterwards="What the lake has of the time between is made up for.",
    ),
    IncidentKind.CONFIG_REFUSED: PipelineWords(
        called="the configuration is refused",
        over="the configuration is read again",
        what=("No task can read its configuration {since}.", _hit),
        doctor=True,
        effect="No cluster is read, nothing is advised and nothing else is told.",
        to_do="Correct what the error names; the next run reads it. This says whether it is right:",
        afterwards=GAP,
    ),
    IncidentKind.UNSENT: PipelineWords(
        called="alerts do not arrive",
        over="alerts arrive again",
        what=(_undelivered,),
        effect="They are kept and sent, oldest first, as soon as their channel takes them.",
        to_do="Follow the error above; the next run tries again by itself.",
        afterwards="Everything that was waiting has been sent.",
    ),
}
