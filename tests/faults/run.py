"""One run: a plan carried out on a real Postgres, a lake on disk and a server that speaks Slack's API."""

from __future__ import annotations

import errno
import logging
import os
import random
import secrets
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.postgres import PostgresHistory, migrate
from evenkeel.engine.adapters.slack import SlackNotifier
from evenkeel.engine.model.errors import LakeError
from tests.faults.clock import Clock, ask_simulated, simulated_database, told_by
from tests.faults.plan import Fault, Plan
from tests.faults.ports import Watched
from tests.faults.remembered import Remembered
from tests.faults.scheduler import Scheduler, standing_in
from tests.faults.world import CLUSTER, SETTINGS, World
from tests.helpers.watching import HASTY_SECONDS, TOKEN
from tests.stage import slack
from tests.stage.postgres import EmbeddedPostgres
from tests.stage.slack_workspace import ANY, Json, Workspace
from tests.stage.slack_workspace import Fault as Answer

TEMPLATE, ROLE = "faults_template", "faults"
EVERY = timedelta(minutes=5)

ANSWERS: Mapping[str, Answer] = {
    "500": Answer(ANY, status=500),
    "500 kept": Answer(status=500, stored=True),
    "reset": Answer(ANY, drop=True),
    "reset kept": Answer(drop=True, stored=True),
    "late kept": Answer(stored=True, delay=HASTY_SECONDS + 0.3),
    "429": Answer(ANY, status=429, retry_after=0),
    "redirect": Answer(ANY, status=302),
    "page": Answer(ANY, status=503),
    "refused": Answer(error="restricted_action"),
    "token revoked": Answer(ANY, error="token_revoked"),
    "channel closed": Answer(error="is_archived"),
}
"""What Slack answers, by the words of the plan."""


@dataclass
class BadWorkspace(Workspace):
    """A workspace whose answers may be bad: *bad* for the next so many calls, or (None) until that is over."""

    bad: Answer | None = None
    left: int | None = 0

    def fault(self, method: str, arguments: Json) -> Answer | None:
        """The answer, where it is bad now."""
        with self.lock:
            self.calls.append(method)
            if self.bad is None or self.left == 0 or self.bad.method not in (method, ANY):
                return None
            self.left = self.left and self.left - 1
            return self.bad


@dataclass
class Server:
    """
    The Postgres of many runs.

    Attributes:
        postgres: The server.
        stopped: How often it was ended.
    """

    postgres: EmbeddedPostgres
    stopped: int = 0

    def stop(self, how: str) -> None:
        """End it: *fast*, *immediate* (as a crash) or *killed*."""
        self.stopped += 1
        if how == "fast":
            self.postgres.stop()
            return
        master = self.postgres.postmaster()
        assert master is not None
        every = [master, *master.children(recursive=True)]
        for each in every if how == "killed" else every[:1]:
            with suppress(psutil.NoSuchProcess):
                each.send_signal(signal.SIGKILL if how == "killed" else signal.SIGQUIT)
        psutil.wait_procs(every, timeout=30)


@contextmanager
def server() -> Iterator[Server]:
    """A server with an empty history that each run copies."""
    with TemporaryDirectory(prefix="faults-") as folder:
        # its server runs as another user where this one is root
        Path(folder).chmod(0o755)
        with EmbeddedPostgres(Path(folder) / "pg") as postgres:
            postgres.create_database(TEMPLATE, ROLE)
            simulated_database(postgres.administrator_url, TEMPLATE)
            migrate(postgres.url(TEMPLATE, ROLE))
            yield Server(postgres)


@dataclass
class Run:
    """A run, while it lasts and afterwards."""

    plan: Plan
    server: Server
    url: str
    lake: FileLake
    workspace: BadWorkspace
    scheduler: Scheduler
    world: World
    rng: random.Random
    damaged: list[str] = field(default_factory=list)
    """Files of the lake that were removed or damaged."""
    met: list[str] = field(default_factory=list)
    """The faults that came to pass, as lines."""
    clocks: list[timedelta] = field(default_factory=list)
    """How far the clocks leapt."""
    tracebacks: list[str] = field(default_factory=list)
    """Lines of the log with a traceback."""
    _overs: list[tuple[int, Callable[[], object]]] = field(default_factory=list)
    _full: bool = False

    @property
    def clock(self) -> Clock:
        """What time it is."""
        return self.scheduler.clock

    @property
    def ended(self) -> datetime:
        """When the last fault was over."""
        return self.plan.start + EVERY * (self.plan.count - self.plan.calm)

    def go(self) -> None:
        """All snapshots, one after another."""
        for number in range(self.plan.count):
            due = self.plan.start + EVERY * number
            self.clock.set(due)
            self._end(number)
            for fault in self.plan.faults:
                if fault.at == number:
                    self._begin(fault)
            self.scheduler.snapshot(number)
            self._later(due, 180)
            self.scheduler.watch(number)
            if number % 5 == 4:
                self.scheduler.maintain(number)

    def _later(self, due: datetime, seconds: float) -> None:
        """Go on to a moment, unless tasks took longer."""
        self.clock.set(max(self.clock.true, due + timedelta(seconds=seconds)))

    def _end(self, number: int) -> None:
        over = [what for at, what in self._overs if at <= number]
        self._overs = [(at, what) for at, what in self._overs if at > number]
        for what in over:
            what()

    def _over(self, fault: Fault, what: Callable[[], object]) -> None:
        self._overs.append((fault.at + fault.lasts, what))

    # What goes wrong

    def _begin(self, fault: Fault) -> None:
        kind = fault.kind
        if kind == "Kafka":
            self._say(fault)
            self.world.faults.add(fault.how)
            self._over(fault, partial(self.world.faults.discard, fault.how))
        elif kind == "Slack":
            self._say(fault)
            self.workspace.bad = ANSWERS[fault.how]
            self.workspace.left = 1 if fault.lasts == 1 else None
            self._over(fault, self._good_answers)
        elif kind == "task runs twice":
            self._say(fault)
            self.scheduler.twice[fault.task] = fault.how
            self._over(fault, partial(self.scheduler.twice.pop, fault.task, None))
        elif kind == "task is killed":
            self._say(fault)
            self.scheduler.killed[fault.task] = (fault.call, fault.after)
        else:
            what = {
                "clock of the tasks": self._clock,
                "clock of the database": self._clock,
                "clock of the machine": self._clock,
                "Postgres restarts": self._restart,
                "Postgres is away": self._away,
                "lake": self._lake,
            }[kind]
            middle = self.scheduler.middle.setdefault(fault.task, {})
            middle[fault.call, fault.after] = partial(self._now, fault, what)

    def _say(self, fault: Fault) -> None:
        self.met.append(str(fault))

    def _now(self, fault: Fault, what: Callable[[Fault], object]) -> None:
        self._say(fault)
        what(fault)

    def _good_answers(self) -> None:
        self.workspace.bad = None

    def _clock(self, fault: Fault) -> None:
        leap = timedelta(seconds=float(fault.how.split()[0]))
        self.clocks.append(leap)
        if fault.kind != "clock of the database":
            self.clock.off = leap
        if fault.kind != "clock of the tasks":
            self.clock.database_off = leap
        self.clock.tell_database()

        def over() -> None:
            self.clock.off = self.clock.database_off = timedelta()
            self.clock.tell_database()

        self._over(fault, over)

    def _restart(self, fault: Fault) -> None:
        if self.server.postgres.running:
            self.server.stop(fault.how)
            self._start()

    def _start(self) -> None:
        self.server.postgres.start()
        self.clock.tell_database(started=True)

    def _away(self, fault: Fault) -> None:
        if self.server.postgres.running:
            self.server.stop(fault.how)
            self._over(fault, self._start)

    def _lake(self, fault: Fault) -> None:
        root = Path(self.lake.path)
        if fault.how == "disk full":
            self._full = True
            self._over(fault, self._room)
        elif fault.how == "folder gone":
            if root.exists():
                root.parent.rename(root.parent.with_name("away"))
                self._over(fault, lambda: root.parent.with_name("away").rename(root.parent))
        else:
            self._damage(root, *fault.how.split())

    def _room(self) -> None:
        self._full = False

    def _damage(self, root: Path, what: str, how: str) -> None:
        """Something of one of the newest snapshots, as a hand or a disk does it."""
        ids = self.lake.snapshots(CLUSTER, limit=4)
        if not ids:
            return
        chosen = self.rng.choice(ids)
        ending = "json" if what == "manifest" else "parquet"
        found = sorted(root.rglob(f"{chosen}*.{ending}"))
        if not found:
            return
        path = self.rng.choice(found)
        self.damaged.append(str(path.relative_to(root)))
        if how == "removed":
            path.unlink()
        else:
            os.truncate(path, path.stat().st_size // 2)

    def write_checked(self) -> None:
        """What a disk says that is full."""
        if self._full:
            problem = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            raise LakeError(
                f"lake {self.lake.path} cannot be written: {problem.strerror}.",
                fix="Free space on that disk, or keep fewer days (keep_days, maintain_history).",
            ) from problem


class FillingLake(FileLake):
    """A lake on a disk that may be full."""

    check: Callable[[], None] = staticmethod(lambda: None)

    def write_part(self, *values: Any, **named: Any) -> Any:
        """Rows, where there is room."""
        self.check()
        return super().write_part(*values, **named)


def carried_out(plan: Plan, of: Server, seed: int, look: Callable[[Run], Any]) -> Any:
    """
    Carry out a plan, then look at what has become of everything.

    Returns:
        What *look* says.
    """
    name = f"faults_{secrets.token_hex(4)}"
    postgres = of.postgres
    postgres.create_database(name, ROLE, template=TEMPLATE)
    ask_simulated(postgres.administrator_url, name)
    with TemporaryDirectory(prefix="faults-") as folder:
        home = Path(folder)
        (home / "mount").mkdir()
        (home / "airflow").mkdir()
        os.environ["AIRFLOW_HOME"] = str(home / "airflow")
        clock = Clock(plan.start)
        workspace = BadWorkspace(clock=lambda: clock.true.timestamp())
        with slack.running(workspace) as slack_server:
            lake = FillingLake(home / "mount" / "lake")
            world = World(clock, plan.start, plan.count)
            trusted = not any(fault.kind == "lake" for fault in plan.faults)
            run = Run(
                plan=plan,
                server=of,
                url=postgres.url(name, ROLE),
                lake=lake,
                workspace=workspace,
                scheduler=Scheduler(clock, Remembered(world, trusted)),
                world=world,
                rng=random.Random(seed),
            )
            lake.check = run.write_checked  # type: ignore[method-assign]
            clock.administrator = _administrator(postgres, name)
            clock.tell_database(started=True)
            try:
                with told_by(clock), _tasks_of(run, slack_server.base_url), _logged(run.tracebacks):
                    run.go()
                    return look(run)
            finally:
                clock.close()
                if not postgres.running:
                    postgres.start()
                postgres.drop_database(name)
                shutil.rmtree(home, ignore_errors=True)
                home.mkdir()


def _administrator(postgres: EmbeddedPostgres, name: str) -> str:
    begin, _, query = postgres.administrator_url.partition("?")
    return f"{begin.rpartition('/')[0]}/{name}?{query}"


@contextmanager
def _tasks_of(run: Run, slack_url: str) -> Iterator[None]:
    """What the tasks of a run work with."""
    calls = run.scheduler.calls
    notifier = SlackNotifier(
        TOKEN, slack_url, timeout_seconds=HASTY_SECONDS, pause=lambda seconds: None
    )
    with standing_in(
        SETTINGS,
        lake=lambda settings: Watched(run.lake, calls),
        pipeline_history=lambda settings: Watched(
            PostgresHistory(run.url, lambda: run.lake), calls
        ),
        notifier=lambda settings: Watched(notifier, calls),
        cluster=lambda settings, name: Watched(run.world, calls),
        heartbeat=lambda settings: None,
    ):
        yield


class _Tracebacks(logging.Handler):
    """Keeps a line for each traceback in the log."""

    def __init__(self, kept: list[str]) -> None:
        super().__init__(logging.WARNING)
        self.kept = kept

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        if record.exc_info and record.exc_info[1] is not None:
            self.kept.append(f"{record.name}: {record.getMessage()}: {record.exc_info[1]!r}")


@contextmanager
def _logged(tracebacks: list[str]) -> Iterator[None]:
    """While this lasts the log of the tasks goes nowhere but there."""
    handler, ours = _Tracebacks(tracebacks), logging.getLogger("evenkeel")
    before = ours.propagate
    ours.addHandler(handler)
    ours.propagate = False
    try:
        yield
    finally:
        ours.removeHandler(handler)
        ours.propagate = before
