"""Problems of the pipeline in words: description, impact, action, and end of each kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ...model.formats import minute, roughly
from ...model.states import IncidentKind
from ...model.text import listed, sentence, several, shortened
from .clauses import Figure

ERROR = 500
"""Characters of a quoted error."""

DOCTOR = "evenkeel doctor"

FAILED_STEPS = "evenkeel query failed_steps"

Known = Mapping[str, Any]
"""Known values of a pipeline's problem, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineWords:
    """
    The words for one kind of problem of a pipeline.

    Attributes:
        called: Its name.
        title: The same with the number that matters: a template.
        what: The problem in sentences, the main one first: templates, or functions that return some.
        effect: The impact, a sentence.
        action: The action, an imperative.
        more: Background of the action.
        afterwards: The state after its end.
        command: The command that shows more.
    """

    called: str
    title: str
    what: tuple[str | Callable[[Known], Sequence[str]], ...]
    effect: str
    action: str
    afterwards: str
    more: str = ""
    command: str = DOCTOR


def what_is_wrong(kind: IncidentKind, cluster: str, known: Known, now: datetime) -> tuple[str, ...]:
    """The problem of the pipeline of a cluster at a moment, in sentences, the main one first."""
    values = _values(cluster, known, now)
    sentences: list[str] = []
    for each in PIPELINES[kind].what:
        sentences += [each.format_map(values)] if isinstance(each, str) else each(values)
    return tuple(sentences)


def title_of(kind: IncidentKind, cluster: str, known: Known, now: datetime) -> str:
    """The problem of the pipeline of a cluster in a few words, with its number."""
    return PIPELINES[kind].title.format_map(_values(cluster, known, now))


def _values(cluster: str, known: Known, now: datetime) -> dict[str, Any]:
    return {
        name: Figure(value) if isinstance(value, int | float) else value
        for name, value in ({"runs": 1} | dict(known)).items()
    } | {"cluster": cluster, "now": now, "since": _since(known, now), "age": _age(known, now)}


def errors(known: Known) -> list[str]:
    """The last error of each failing step, or the error of the problem itself."""
    those = known.get("steps") or [known]
    return [sentence(shortened(each["error"], ERROR)) for each in those if each.get("error")]


def _since(known: Known, now: datetime) -> str:
    return f"since {minute(datetime.fromisoformat(known['since']))} ({_age(known, now)})"


def _age(known: Known, now: datetime) -> str:
    return roughly((now - datetime.fromisoformat(known["since"])).total_seconds())


def _last_good(known: Known) -> Sequence[str]:
    newest = known.get("newest_finished_at")
    if not newest:
        return ["It has never been read."]
    return [f"Last complete snapshot: {minute(datetime.fromisoformat(newest))}."]


def _late(known: Known) -> Sequence[str]:
    late = "{since}; stale after {stale_after_seconds:duration}."
    if known.get("newest_finished_at") is None:
        return [f"{{cluster}} was never read, {late}".format_map(known)]
    newest = f"Newest snapshot: {known['newest_snapshot_id']}."
    return [f"No new snapshot of {{cluster}} {late}".format_map(known), newest]


def _unread(known: Known) -> Sequence[str]:
    """The unread parts, as far as listed."""
    problems = [sentence(shortened(problem, ERROR)) for problem in known["problems"]]
    rest = known["left_out"].value
    return [*problems, *([f"And {several(rest, 'more problem')}."] if rest else [])]


def _pace(known: Known) -> Sequence[str]:
    """Duration of a run and interval of snapshots, as far as known."""
    run, gap = known.get("run_seconds"), known.get("gap_seconds")
    if run is None and gap is None:
        return ()
    takes = f"Recent runs take {run:duration}" if run is not None else "No recent run ended"
    comes = f"a snapshot every {gap:duration}" if gap is not None else "there is one snapshot"
    return [f"{takes}, {comes}."]


def _steps(known: Known) -> Sequence[str]:
    return [
        f"Step {s['step']} of {known['cluster']} has failed {_since(s, known['now'])}: {s['failures']} in a row."
        for s in known["steps"]
    ]


def _hit(known: Known) -> Sequence[str]:
    """The steps that failed because of it."""
    return [f"Affected so far: {listed(known['hit'])} ({known['runs']:run})."]


def _undelivered(known: Known) -> Sequence[str]:
    where = ", ".join(known["channels"])
    return [
        f"{known['alerts']:alert} of {known['cluster']} could not be delivered to {where} {known['since']}."
    ]


GAP = "The offsets of that time can't be read later: the history database has a gap."

PIPELINES: Mapping[IncidentKind, PipelineWords] = {
    IncidentKind.UNREACHABLE: PipelineWords(
        called="cluster unreachable",
        title="cluster unreachable, {failures:failed attempt}",
        what=(
            "Reading Kafka cluster {cluster} has failed {since}: {failures:attempt} in a row, of {runs:run}.",
            _last_good,
        ),
        effect="No lag, alerts or advice for this cluster until it answers.",
        action="Check the brokers, then address and permissions of the connection.",
        afterwards=GAP,
    ),
    IncidentKind.STALE: PipelineWords(
        called="no new snapshot",
        title="no new snapshot for {age}",
        what=(_late,),
        effect="Lag and advice of this cluster are outdated.",
        action="Check whether the DAG snapshot_offsets is paused, queued or still running.",
        afterwards="The history database has no snapshots of that time.",
        command="evenkeel query snapshot_health",
    ),
    IncidentKind.PARTIAL: PipelineWords(
        called="snapshots incomplete",
        title="snapshots incomplete, {snapshots:,} in a row",
        what=(
            "{snapshots:snapshot} of {cluster} in a row could not be read completely, {since}.",
            _unread,
        ),
        effect="The unread parts have no lag, alerts or advice.",
        action="Check brokers, groups and permissions.",
        afterwards="The last two snapshots are complete.",
    ),
    IncidentKind.REJECTED: PipelineWords(
        called="newest snapshot rejected",
        title="newest snapshot rejected",
        what=("Validation rejected snapshot {snapshot_id} of {cluster}.",),
        effect="There is no advice from this snapshot; earlier advice remains valid.",
        action="Fix what the failed checks name.",
        afterwards="The rejected snapshots stay in the lake, without advice.",
        command="evenkeel query skipped_groups",
    ),
    IncidentKind.UNWATCHED: PipelineWords(
        called="groups not watched",
        title="groups not watched for {age}",
        what=(
            "The groups of {cluster} have not been checked {since}, although there are new snapshots.",
            "Newest snapshot: {snapshot_id}.",
        ),
        effect="Problems of its groups cause no alert.",
        action="Check whether the task watch_groups of the DAG snapshot_offsets is queued or killed.",
        afterwards="Problems that lasted for all of that time are reported now.",
        command=FAILED_STEPS,
    ),
    IncidentKind.STUCK: PipelineWords(
        called="advice delayed",
        title="advice delayed, {snapshots:snapshot} pending",
        what=(
            "{snapshots:snapshot} of {cluster} without advice {since}.",
            "Oldest: {snapshot_id}.",
            _pace,
        ),
        effect="Lag is recorded, but there is no new advice.",
        action="Check whether the DAG advise_assignments is paused, queued or failing.",
        more="If a run takes longer than the interval of snapshots, take them less often.",
        afterwards="The newest snapshot has its advice. Superseded ones have metrics only.",
        command=FAILED_STEPS,
    ),
    IncidentKind.STEP_FAILED: PipelineWords(
        called="pipeline step failing",
        title="pipeline step failing for {age}",
        what=(_steps,),
        effect="The results of the step are missing; stored data is unaffected.",
        action="Fix the cause, then clear the failed task.",
        more="Each step can be run again safely.",
        afterwards="The last run of every step succeeded.",
        command=FAILED_STEPS,
    ),
    IncidentKind.HISTORY_AWAY: PipelineWords(
        called="history database unreachable",
        title="history database unreachable",
        what=("Nothing can be stored in the history database {since}.", _hit),
        effect="Snapshots go to the lake only; there is no advice and no other alert.",
        action="Check Postgres and the connection to it.",
        more="Later runs catch up from the lake by themselves.",
        afterwards="evenkeel catches up on that time from the lake.",
    ),
    IncidentKind.CONFIG_REFUSED: PipelineWords(
        called="configuration refused",
        title="configuration refused",
        what=("No task can read its configuration {since}.", _hit),
        effect="No cluster is read, and there is no advice and no other alert.",
        action="Fix the configuration.",
        more="The next run reads it. The command shows whether it is valid.",
        afterwards=GAP,
    ),
    IncidentKind.UNSENT: PipelineWords(
        called="alerts not delivered",
        title="{alerts:alert} not delivered",
        what=(_undelivered,),
        effect="They are kept, and sent oldest first once the channel accepts them.",
        action="Check the channel and evenkeel's access to it.",
        more="Each run tries again.",
        afterwards="All pending alerts have been sent.",
    ),
}
