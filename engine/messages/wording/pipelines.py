"""What is wrong with the pipeline itself, in words: of each kind what, how bad that is, what to do, and its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from ...model.formats import duration, moment, since
from ...model.states import IncidentKind, TroubleKind
from ...model.text import listed, sentence, several, shortened
from .clauses import Known, Words

ERROR = 500
"""Characters of a quoted error."""


def errors(known: Known) -> list[str]:
    """What each step that fails said last; of what is about none, what that itself says."""
    told = known.get("steps") or [known]
    return [sentence(shortened(each["error"], ERROR)) for each in told if each.get("error")]


def _from(known: Known, now: datetime) -> str:
    return since(datetime.fromisoformat(known["since"]), now)


def _unreachable(cluster: str, known: Known, now: datetime) -> tuple[str, ...]:
    newest = known.get("newest_finished_at")
    last = (
        f"The last good snapshot was read {moment(datetime.fromisoformat(newest))}."
        if newest
        else "It has never been read."
    )
    failed, runs = several(known["failures"], "attempt"), several(known.get("runs", 1), "run")
    return (
        f"Reading Kafka cluster {cluster} has failed {_from(known, now)}: {failed} in a row, of {runs}.",
        last,
    )


def _late(cluster: str, known: Known, now: datetime) -> tuple[str, ...]:
    limit = duration(known["late_after_seconds"])
    if known.get("newest_finished_at") is None:
        return (f"{cluster} was never read, {_from(known, now)}; late is more than {limit}.",)
    return (
        f"No new snapshot of {cluster} {_from(known, now)}; late is more than {limit}.",
        f"The newest is {known['newest_snapshot_id']}.",
    )


def _partial(cluster: str, known: Known, now: datetime) -> tuple[str, ...]:
    """What could not be read, as far as it is listed."""
    snapshots = several(known["snapshots"], "snapshot")
    rest = known["left_out"]
    return (
        f"{snapshots} of {cluster} in a row could not be read as a whole, {_from(known, now)}.",
        *(sentence(shortened(problem, ERROR)) for problem in known["problems"]),
        *((f"And {several(rest, 'more problem')}.",) if rest else ()),
    )


def _rejected(cluster: str, known: Known, now: datetime) -> tuple[str, ...]:
    return (f"Validation rejected snapshot {known['snapshot_id']} of {cluster} as a whole.",)


def _unwatched(cluster: str, known: Known, now: datetime) -> tuple[str, ...]:
    return (
        f"Nobody has looked at the groups of {cluster} {_from(known, now)}, though snapshots come.",
        f"The newest is {known['snapshot_id']}.",
    )


def _stuck(cluster: str, known: Known, now: datetime) -> tuple[str, ...]:
    waiting = several(known["snapshots"], "snapshot")
    return (
        f"{waiting} of {cluster} without advice {_from(known, now)}.",
        f"The oldest is {known['snapshot_id']}.",
        *_pace(known),
    )


def _pace(known: Known) -> tuple[str, ...]:
    """How long a run takes beside how often a snapshot comes, as far as either is known."""
    run, gap = known.get("run_seconds"), known.get("gap_seconds")
    if run is None and gap is None:
        return ()
    takes = f"A run took {duration(run)} of late" if run is not None else "No run ended of late"
    comes = (
        f"a snapshot comes every {duration(gap)}" if gap is not None else "there is one snapshot"
    )
    return (f"{takes}, {comes}.",)


def _step_failed(cluster: str, known: Known, now: datetime) -> tuple[str, ...]:
    steps: Sequence[Known] = known["steps"]
    return tuple(
        f"Step {s['step']} of {cluster} has failed {_from(s, now)}: {s['failures']} in a row."
        for s in steps
    )


def _history_away(cluster: str, known: Known, now: datetime) -> tuple[str, ...]:
    return (f"Nothing can be stored in the history {_from(known, now)}.", _hit(known))


def _config_refused(cluster: str, known: Known, now: datetime) -> tuple[str, ...]:
    return (f"No task can read its configuration {_from(known, now)}.", _hit(known))


def _hit(known: Known) -> str:
    """What could not be done or noted."""
    steps = listed(known["hit"])
    return f"Hit so far: {steps} ({several(known['runs'], 'run')})."


def _unsent(cluster: str, known: Known, now: datetime) -> tuple[str, ...]:
    waiting = several(known["alerts"], "alert")
    where = ", ".join(known["channels"])
    return (f"{waiting} of {cluster} could not be delivered to {where} {_from(known, now)}.",)


PIPELINES: Mapping[TroubleKind, Words] = {
    IncidentKind.UNREACHABLE: Words(
        called="the cluster cannot be read",
        over="the cluster can be read again",
        what=_unreachable,
        effect="This cluster gets no lag, advice or history until it answers. Others go on.",
        to_do="Check the brokers, then address and rights of the connection:",
        afterwards="Offsets of the time between cannot be read any more: a gap in the history.",
    ),
    IncidentKind.LATE: Words(
        called="snapshots are late",
        over="snapshots are on time again",
        what=_late,
        effect="Lag and advice shown for this cluster are old.",
        to_do="Look at the DAG snapshot_offsets: is it paused, queued, or still running?",
        afterwards="The history has no snapshots of the time between.",
    ),
    IncidentKind.PARTIAL: Words(
        called="snapshots are incomplete",
        over="snapshots are complete again",
        what=_partial,
        effect="What could not be read has no lag and no advice; all else goes on.",
        to_do="See which brokers, groups or rights are concerned:",
        afterwards="The last two snapshots have everything.",
    ),
    IncidentKind.REJECTED: Words(
        called="the newest snapshot is rejected",
        over="snapshots are accepted again",
        what=_rejected,
        effect="Nothing of this snapshot is advised; earlier advice stays in force.",
        to_do="See what failed: the critical rows of the table validation for this snapshot.",
        afterwards="The rejected snapshots stay in the lake, without advice.",
    ),
    IncidentKind.UNWATCHED: Words(
        called="groups are not watched",
        over="groups are watched again",
        what=_unwatched,
        effect="What is wrong with a group of this cluster is told to nobody.",
        to_do="Look at the task watch_groups of the DAG snapshot_offsets: is it queued, or killed?",
        afterwards="What was wrong with groups for the whole time between is told now.",
    ),
    IncidentKind.STUCK: Words(
        called="snapshots wait for advice",
        over="advice is up to date again",
        what=_stuck,
        effect="New lag is being recorded, but nobody is told what to do about it.",
        to_do="Look at the DAG advise_assignments: is it paused, queued, or failing?\n"
        "A run that takes much longer than a snapshot takes to come: take them less often.",
        afterwards="The newest has its advice; those it overtook have metrics, none of their own.",
    ),
    IncidentKind.STEP_FAILED: Words(
        called="a step of the pipeline fails",
        over="the pipeline's steps work again",
        what=_step_failed,
        effect="What the step writes is missing since; nothing already stored is lost.",
        to_do="Correct the cause, then clear the failed task: a step may be run again.",
        afterwards="The last run of every step was good.",
    ),
    IncidentKind.HISTORY_AWAY: Words(
        called="the history cannot be used",
        over="the history can be used again",
        what=_history_away,
        effect="Snapshots are kept in the lake, but there is no advice and no other alert until it is back.",
        to_do="Follow the error above. What can be made up for is made up for by itself.",
        afterwards="What the lake has of the time between is made up for.",
    ),
    IncidentKind.CONFIG_REFUSED: Words(
        called="the configuration is refused",
        over="the configuration is read again",
        what=_config_refused,
        effect="No cluster is read, nothing is advised and nothing else is told.",
        to_do="Correct what the error names; the next run reads it. This says whether it is right:",
        afterwards="Offsets of the time between cannot be read any more: a gap in the history.",
    ),
    IncidentKind.UNSENT: Words(
        called="alerts do not arrive",
        over="alerts arrive again",
        what=_unsent,
        effect="They are kept and sent, oldest first, as soon as their channel takes them.",
        to_do="Follow the error above; the next run tries again by itself.",
        afterwards="Everything that was waiting has been sent.",
    ),
}
