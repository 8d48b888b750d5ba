"""
The tasks of the DAGs: each runs one step of the engine and records the run.

Tasks import this module when they run, never when their DAG is parsed. Errors of the engine become one line
(`AirflowException`). Every run is a row of `step_run`, which `watch_pipeline` reads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Protocol
from urllib.parse import urlsplit

from airflow.sdk import get_current_context
from airflow.sdk.configuration import conf
from airflow.sdk.exceptions import (
    AirflowException,
    AirflowSkipException,
    AirflowTaskTimeout,
)

from evenkeel.dags import ADVISING, outages
from evenkeel.dags.connections import settings
from evenkeel.engine import pipeline, wiring
from evenkeel.engine.config import Settings
from evenkeel.engine.model.environment import DOING
from evenkeel.engine.model.errors import (
    ClusterBusy,
    ConfigError,
    EvenkeelError,
    HistoryUnreachable,
    InputError,
)
from evenkeel.engine.model.garbage import collect_seldom
from evenkeel.engine.model.logs import logger
from evenkeel.engine.model.moments import utc_now
from evenkeel.engine.model.states import IncidentKind
from evenkeel.engine.model.tables import Table
from evenkeel.engine.model.text import one_line, printable
from evenkeel.engine.ports import History, Lake
from evenkeel.engine.records import Outcome, StepRun
from evenkeel.engine.snapshots import split_snapshot_id
from evenkeel.engine.snapshots.walk_lake import ReadOnce

log = logger(__name__)

ON_THE_WAY = timedelta(minutes=2)
"""Time budget for superseded snapshots in a run; the next run continues with them."""


# Running a step


@dataclass
class Note:
    """The running step, for its row of `step_run`."""

    step: str
    cluster: str | None
    snapshot_id: str | None
    started_at: datetime = field(default_factory=utc_now)

    def row(
        self,
        error: str | None,
        outcome: Outcome = Outcome.FAILED,
        finished_at: datetime | None = None,
    ) -> StepRun:
        """Record its outcome."""
        return StepRun(
            cluster=self.cluster,
            snapshot_id=self.snapshot_id,
            step=self.step,
            started_at=self.started_at,
            finished_at=finished_at or utc_now(),
            outcome=outcome,
            error=error,
            link=_place(),
        )


@dataclass(frozen=True)
class Ports:
    """The ports of a step, created at their first use."""

    settings: Settings

    @cached_property
    def lake(self) -> Lake:
        """The configured lake."""
        return wiring.lake(self.settings)

    @cached_property
    def history(self) -> History:
        """The configured history."""
        return wiring.pipeline_history(self.settings)


@contextmanager
def running(step: str, *, cluster: str | None, snapshot_id: str | None = None) -> Iterator[Ports]:
    """
    Run a step, record the run, and turn errors of the engine into one line.

    Raises:
        AirflowException: The step failed; the message has the error and the fix.
        AirflowSkipException: The previous run is still active; the skip is recorded.
    """
    with _noted(Note(step, cluster, snapshot_id)) as ports:
        yield ports


@contextmanager
def _noted(note: Note) -> Iterator[Ports]:
    """The same, recording the step that runs when it ends."""
    DOING.set(note.step)
    collect_seldom()  # Airflow gives every task a process
    try:
        ports = Ports(settings())
    except ConfigError as problem:
        outages.keep(IncidentKind.CONFIG_REFUSED, note.row(one_line(problem)), one_line(problem))
        raise AirflowException(one_line(problem)) from None
    try:
        yield ports
    except ClusterBusy as problem:
        _record(ports, note.row(one_line(problem), Outcome.SKIPPED))
        raise AirflowSkipException(str(problem)) from None
    except EvenkeelError as problem:
        _record(ports, note.row(one_line(problem)))
        raise AirflowException(one_line(problem)) from None
    except AirflowTaskTimeout:
        seconds = (utc_now() - note.started_at).total_seconds()
        _record(ports, note.row(f"stopped after {seconds:.0f} s, the time limit of the task."))
        raise
    except BaseException as problem:
        error = printable(f"{type(problem).__name__}: {one_line(problem)}")
        _record(ports, note.row(error))
        if isinstance(problem, AirflowException) or not isinstance(problem, Exception):
            raise
        # Airflow would log its traceback with names as they are
        log.exception("%s failed", note.step)
        raise AirflowException(error) from None
    _record(ports, note.row(None, Outcome.OK))


def _record(ports: Ports, run: StepRun) -> None:
    """Write a row of `step_run`, or store it aside; an error in this must not hide the error of the step."""
    try:
        ports.history.record_step(run)
    except EvenkeelError as problem:
        log.warning("%s is not recorded in step_run: %s", run.step, problem)
        outages.keep(IncidentKind.HISTORY_AWAY, run, one_line(problem))


def link() -> str | None:
    """URL of the running task in Airflow; None outside of a task, and without a base URL."""
    return _place() if conf.has_option("api", "base_url") else None


def _place() -> str | None:
    """The same URL for all tries of a run, which identifies the run; without its host if unknown."""
    try:
        task: Any = get_current_context()["ti"]
    except RuntimeError:
        return None
    address = str(task.log_url).partition("?")[0]
    return address if conf.has_option("api", "base_url") else urlsplit(address).path


@contextmanager
def of_snapshot(step: str, snapshot_id: str) -> Iterator[Ports]:
    """
    Run a step on a snapshot.

    Raises:
        AirflowException: The id is invalid, or the step failed.
    """
    cluster = _cluster_of(snapshot_id)
    with running(step, cluster=cluster, snapshot_id=snapshot_id) as ports:
        yield ports


@contextmanager
def computing(snapshot_id: str, groups: str) -> Iterator[Ports]:
    """
    Run `compute_metrics` and `propose_candidates` in one process, with a step run each.

    The first step is done when the lake has the metrics; a failure before belongs to it. If both are made in one pass,
    that is at its end, so the second step takes no time.

    Raises:
        AirflowException: The id is invalid, or a step failed.
    """
    note = Note("compute_metrics", _cluster_of(snapshot_id), snapshot_id)
    with _noted(note) as ports:
        try:
            yield ports
        finally:
            # a lake that is away hides nothing
            with suppress(EvenkeelError):
                _go_on(note, ports, groups)


def compute_small(ports: Ports, snapshot_id: str, groups: str, also: Iterable[str]) -> bool:
    """
    Compute metrics and candidates of a snapshot in this process if it needs no Spark.

    Args:
        ports: The ports of the step.
        snapshot_id: Id of the snapshot.
        groups: Shell pattern of group ids.
        also: Superseded snapshots that are also measured.

    Returns:
        Whether it did.
    """
    size, bound = pipeline.size_of(ports.lake, snapshot_id, groups), ports.settings.spark_above
    is_small = size <= bound
    where = "in this task" if is_small else "with Spark"
    log.info("a snapshot of size %s is computed %s (spark_above = %s)", size, where, bound)
    if is_small:
        here = pipeline.in_this_process(ports.lake, ports.settings)
        pipeline.compute(ports.lake, ports.settings, snapshot_id, groups, also, here, _tell)
    return is_small


def _tell(line: str) -> None:
    log.info("%s", printable(line))


def _go_on(note: Note, ports: Ports, groups: str) -> None:
    """If the metrics exist, record the first step and start the second one."""
    if pipeline.is_made(ports.lake, ports.settings, "metrics", str(note.snapshot_id), groups):
        made_at = ports.lake.manifest("metrics", str(note.snapshot_id)).written_at
        # a try before this one may have made them
        done_at = max(made_at, note.started_at)
        _record(ports, note.row(None, Outcome.OK, done_at))
        note.step, note.started_at = "propose_candidates", done_at


def _cluster_of(snapshot_id: str) -> str:
    try:
        # Airflow may hand on what another version left, or nothing
        return split_snapshot_id(str(snapshot_id))[0]
    except InputError as problem:
        raise AirflowException(f"{problem} Trigger the DAG with snapshot_id set.") from None


# The tasks


def list_clusters(only: str | None = None) -> list[str]:
    """The configured clusters, or the requested one."""
    with running("list_clusters", cluster=None) as ports:
        if only is not None:
            ports.settings.cluster(only)
            return [only]
        if not ports.settings.clusters:
            raise InputError(
                "no cluster is configured.", fix="Add [clusters.<name>] to evenkeel.toml."
            )
        return sorted(ports.settings.clusters)


def take_snapshot(name: str, *, run: str, limit: timedelta | None = None) -> str:
    """
    Take a snapshot of a cluster, or return the one that an earlier try of this run stored.

    Args:
        name: The cluster.
        run: Id of the Airflow run, stored in the manifest of the snapshot.
        limit: Time until Airflow ends the task; None without a limit.
    """
    since = time.monotonic()
    with running("take_snapshot", cluster=name) as ports:
        return pipeline.take_scheduled_snapshot(
            lambda settings: wiring.cluster(settings, name),
            ports.lake,
            ports.history,
            ports.settings,
            name,
            run=run,
            since=since,
            limit=limit,
        )


def validate_snapshot(snapshot_id: str, *, run_id: str) -> str | None:
    """
    Claim a snapshot for the run and validate it, and validate the snapshots that it supersedes.

    Args:
        snapshot_id: The snapshot that triggered the run, or the parameter of a manual run.
        run_id: The run.

    Returns:
        The snapshot to advise on, None if it is rejected.

    Raises:
        AirflowSkipException: The snapshot is done, superseded or claimed by another run.
    """
    turn = pipeline.Turn(snapshot_id=snapshot_id, run_id=run_id)
    with _told_in_one_line():
        ports = Ports(settings())
        _cluster_of(snapshot_id)
        taken_up, accepted = pipeline.take_turn(
            ports.lake, ports.history, ports.settings, turn, _accepted
        )
        if taken_up is None:
            raise AirflowSkipException(
                f"{snapshot_id} is done, superseded or claimed by another run."
            )
        if accepted:
            _on_the_way(pipeline.unvalidated(ports.history, turn, taken_up), _accepted)
    return taken_up if accepted else None


def _accepted(snapshot_id: str) -> bool:
    from evenkeel.expectations import run

    with of_snapshot("validate_snapshot", snapshot_id) as ports:
        found = run.validate_snapshot(ports.lake, ports.settings, snapshot_id)
        rejected = pipeline.record_validation(
            ports.lake, ports.history, snapshot_id, "snapshot", found
        )
        withheld = pipeline.skipped_groups(ports.lake, snapshot_id)
    _tell_withheld(withheld)
    _tell_verdict(snapshot_id, rejected)
    return rejected is None


@contextmanager
def _told_in_one_line() -> Iterator[None]:
    try:
        yield
    except EvenkeelError as problem:
        raise AirflowException(one_line(problem)) from None


def _on_the_way(snapshot_ids: Iterable[str], work: Callable[[str], object]) -> None:
    pipeline.on_the_way(snapshot_ids, work, ON_THE_WAY, log.warning, AirflowException)


def _tell_withheld(withheld: Mapping[str, str]) -> None:
    for group, reason in withheld.items():
        log.warning("%s is skipped by validation: %s", group, reason)


def _tell_verdict(what: str, rejected: str | None) -> None:
    log.info("validation of %s: %s", what, f"rejected, {rejected}" if rejected else "accepted")


def to_measure(snapshot_id: str, *, run_id: str) -> list[str]:
    """The superseded snapshots that a run also measures, newest first."""
    with _told_in_one_line():
        turn = pipeline.Turn(snapshot_id=snapshot_id, run_id=run_id)
        return pipeline.unmeasured(Ports(settings()).history, turn, snapshot_id)


def validate_candidates(snapshot_id: str, *, run_id: str) -> None:
    """
    Validate metrics and candidates of a snapshot and store the valid ones in the history database.

    Metrics of superseded snapshots are validated and stored as well.
    """
    with of_snapshot("validate_candidates", snapshot_id) as ports, ThreadPoolExecutor(1) as pool:
        # candidates are validated while the server stores metrics
        stages = ("metrics", "candidates")
        found = [pool.submit(_validated, ports, stage, snapshot_id) for stage in stages]
        for stage, each in zip(stages, found, strict=True):
            _record_stage(ports, stage, snapshot_id, *each.result())
    with _told_in_one_line():
        turn = pipeline.Turn(snapshot_id=snapshot_id, run_id=run_id)
        measured = pipeline.measured_now(ports.lake, ports.history, turn, snapshot_id)
        _on_the_way(
            measured,
            lambda one: _record_stage(ports, "metrics", one, *_validated(ports, "metrics", one)),
        )


def _validated(ports: Ports, stage: str, snapshot_id: str) -> tuple[Table, Lake]:
    """What validation found at a stage, and the lake with what was read for it."""
    from evenkeel.expectations import run

    validate = {"metrics": run.validate_metrics, "candidates": run.validate_candidates}[stage]
    lake = ReadOnce(ports.lake)
    return validate(lake, ports.settings, snapshot_id), lake


def _record_stage(ports: Ports, stage: str, snapshot_id: str, found: Table, lake: Lake) -> None:
    rejected = pipeline.record_validation(lake, ports.history, snapshot_id, stage, found)
    _tell_verdict(f"{stage} of {snapshot_id}", rejected)
    _tell_withheld(pipeline.skipped_groups(ports.lake, snapshot_id, stage))


def advise(snapshot_id: str) -> None:
    """Compute the advice for every group of a snapshot."""
    with of_snapshot("advise", snapshot_id) as ports:
        rows = pipeline.advise(ports.lake, ports.history, ports.settings, snapshot_id)
    for row in rows:
        log.info("%s: %s, %s", row.group_id, row.verdict, row.reason)


def alert(snapshot_id: str) -> None:
    """Notify of news."""
    with of_snapshot("alert", snapshot_id) as ports:
        report = pipeline.alert(
            ports.history, wiring.notifier(ports.settings), ports.settings, snapshot_id, link()
        )
    log.info("%s", report)


def watch_groups(snapshot_id: str) -> None:
    """Notify of new, worse and resolved incidents of groups."""
    with of_snapshot("watch_groups", snapshot_id) as ports:
        report = pipeline.watch_groups(
            ports.lake,
            ports.history,
            wiring.notifier(ports.settings),
            ports.settings,
            snapshot_id,
            link=link(),
        )
    log.info("%s", report)


def heartbeat(cluster: str) -> None:
    """Call the configured heartbeat URL, if there is one."""
    with running("heartbeat", cluster=cluster) as ports:
        beats = wiring.heartbeat(ports.settings)
        if beats is not None:
            beats.beat(cluster)


def watch() -> None:
    """Notify of incidents of the pipeline, and of their end."""
    with running("watch", cluster=None) as ports:
        _make_up(ports.history)
        report = pipeline.watch(
            ports.history, wiring.notifier(ports.settings), ports.settings, utc_now()
        )
    log.info("%s", report)


def _make_up(history: History) -> None:
    """Record runs of past outages; an error in this must not stop the watch."""
    try:
        outages.make_up(history)
    except HistoryUnreachable:
        raise
    except Exception:
        log.exception("runs of past outages are not recorded")


def maintain(budget: timedelta) -> dict[str, int]:
    """Roll up, expire and compact, each within a time budget; `left` is the remaining work."""
    with running("maintain", cluster=None) as ports:
        did = pipeline.maintain(
            ports.lake, ports.history, ports.settings, utc_now(), budget=budget, tell=log.info
        )
    return asdict(did)


class Runs(Protocol):
    """The interface of a task instance for runs of another DAG."""

    def get_dr_count(
        self, dag_id: str, *, run_ids: list[str] | None = None, states: list[str] | None = None
    ) -> int:
        """Number of runs."""


def runs_to_repeat(runs: Runs) -> list[Mapping[str, Any]]:
    """
    Arguments of `TriggerDagRunOperator` for snapshots without advice, oldest first.

    Only the newest of each cluster, whose run also claims the others, and none with an active run.
    """

    def active(run_id: str) -> bool:
        return runs.get_dr_count(ADVISING, run_ids=[run_id], states=["queued", "running"]) > 0

    with running("find_unadvised", cluster=None) as ports:
        late = pipeline.late_for_advice(ports.history, ports.settings, utc_now())
    again = pipeline.repeats(
        late, lambda ids: runs.get_dr_count(ADVISING, run_ids=list(ids)), active
    )
    return [
        {"trigger_run_id": one.run_id, "conf": {"snapshot_id": one.snapshot_id}} for one in again
    ]
