"""
What workers must have before any work, and what is said of those that lack it: one cause, in one line, with the fix.

It does not matter here how they are asked: `preflight` asks the executors of a cluster, `remote` those of a server.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from evenkeel.engine.environment import Environment, this_environment
from evenkeel.engine.errors import ConfigError, EvenkeelError, LakeError
from evenkeel.engine.text import one_line, several
from evenkeel.spark_tasks import cluster, probe

PATIENCE = "EVENKEEL_SPARK_PATIENCE"
"""Environment variable: seconds that a cluster may take to give the first executor, and as many for it to answer."""

PATIENCE_SECONDS = 90.0

PACK = f"Make an archive with `evenkeel pack` and let {cluster.ARCHIVE} name it."
PACK_AGAIN = "Make the archive anew with `evenkeel pack`."


@dataclass(frozen=True)
class Answer:
    """
    What one worker said.

    Attributes:
        report: What the probe found, empty where no Python of ours could start.
        last_line: What was printed beside it, its last line.
    """

    report: dict[str, Any]
    last_line: str

    @property
    def host(self) -> str:
        """Where it runs, as far as it is known."""
        return str(self.report.get("host", "unknown host"))


@dataclass(frozen=True)
class ReadyCluster:
    """A cluster that can work for us: who was asked on how many hosts, and what they have in common."""

    workers: str
    hosts: int
    environment: Environment
    lake: str
    seconds: float

    def __str__(self) -> str:
        """One line for a log."""
        have = f"Python {self.environment.python}, evenkeel {self.environment.version} ({self.environment.source})"
        return (
            f"{self.workers} on {several(self.hosts, 'host')} have {have}; lake {self.lake} is read and written "
            f"by them ({self.seconds:.1f} s)"
        )


def patience() -> float:
    """Seconds that a cluster may take to answer."""
    return float(os.environ.get(PATIENCE) or PATIENCE_SECONDS)


def ready(
    lake: str,
    python: str,
    ask: Callable[[str], Sequence[Answer]],
    *,
    workers: str | None = None,
    pack: str = PACK,
) -> ReadyCluster:
    """
    Have workers asked, and judge what they said.

    Args:
        lake: The lake's path or URI, as the settings have it.
        python: The interpreter that the workers are to use.
        ask: Has the probe run by workers, with this argument.
        workers: Who they are; as many tasks as answered, where nobody knows.
        pack: The fix where a worker lacks our environment.

    Raises:
        ConfigError: One lacks Python or our code.
        LakeError: One cannot read or write the lake.
    """
    began, token, here = time.monotonic(), secrets.token_hex(6), this_environment()
    words = json.dumps({"python": here.python, "lake": _absolute(lake), "token": token})
    probe.leave(lake, token)
    try:
        answers = ask(words)
    finally:
        arrived = probe.collect(lake, token)
    problem = verdict(answers, arrived, lake, here, python, pack)
    if problem is not None:
        raise problem
    hosts = {answer.host for answer in answers}
    by = workers or several(len(answers), "task")
    return ReadyCluster(by, len(hosts), here, lake, time.monotonic() - began)


def verdict(
    answers: Sequence[Answer],
    arrived: Collection[str],
    lake: str,
    here: Environment,
    python: str,
    pack: str = PACK,
) -> EvenkeelError | None:
    """
    What is wrong with some workers, the cause before what follows from it; None where all is well.

    Args:
        answers: Of the executors.
        arrived: Names of the files that the driver found in the lake afterwards.
        lake: Its path or URI.
        here: What the driver has.
        python: The interpreter that the workers were to use.
        pack: The fix where one lacks our environment.
    """
    for answer in answers:
        problem = _of_environment(answer, here, python, pack)
        if problem is not None:
            return problem
    for answer in answers:
        problem = _of_lake(answer, arrived, lake)
        if problem is not None:
            return problem
    return None


def _of_environment(
    answer: Answer, here: Environment, python: str, pack: str
) -> ConfigError | None:
    """What of interpreter and code one lacks."""
    report, worker = answer.report, f"a Spark worker ({answer.host})"
    if not report:
        return ConfigError(
            f"Spark's workers cannot start Python as {python}: {answer.last_line}.".replace(
                "..", "."
            ),
            fix=pack,
        )
    if report["python"] != here.python:
        return ConfigError(
            f"{worker} runs Python {report['python']}, this process {here.python}; they must be the same.",
            fix=f"Install Python {here.python} there, or run this with {report['python']}, and pack again.",
        )
    if "missing" in report:
        return ConfigError(f"{worker} lacks a module: {report['missing']}.", fix=pack)
    if report["source"] != here.source:
        return ConfigError(
            f"{worker} has another evenkeel, {report['version']} ({report['source']}), than this process, "
            f"{here.version} ({here.source}).",
            fix=PACK_AGAIN,
        )
    return None


def _of_lake(answer: Answer, arrived: Collection[str], lake: str) -> LakeError | None:
    """What of the lake one cannot reach."""
    tried, worker = answer.report["lake"], f"a Spark worker ({answer.host})"
    fix = "Name a lake that workers and this process share: a mounted path, or s3://."
    if "read_problem" in tried:
        why = tried["read_problem"]
        return LakeError(f"{worker} cannot read lake {lake} as this process does: {why}.", fix=fix)
    if "write_problem" in tried:
        return LakeError(f"{worker} cannot write lake {lake}: {tried['write_problem']}.", fix=fix)
    if tried["wrote"] not in arrived:
        return LakeError(f"what {worker} writes to lake {lake} is not seen here.", fix=fix)
    return None


def _absolute(lake: str) -> str:
    """A path that means the same in another folder."""
    return lake if "://" in lake else os.path.abspath(lake)


def answer(lines: Sequence[str]) -> Answer:
    """What a worker said, of the lines that the probe printed there."""
    told = [json.loads(line[len(probe.MARK) :]) for line in lines if line.startswith(probe.MARK)]
    said = [line.strip() for line in lines if line.strip() and not line.startswith("(exit code")]
    return Answer(told[-1] if told else {}, said[-1] if said else "it said nothing")


@contextmanager
def cancelled_after(patience: float, cancel: Callable[[], object]) -> Iterator[threading.Event]:
    """Call *cancel* when what runs takes longer than so many seconds; the event says that it did."""
    late = threading.Event()

    def end() -> None:
        late.set()
        cancel()

    timer = threading.Timer(patience, end)
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()


def cause(problem: Exception) -> str:
    """The line of a JVM's failure that says what happened."""
    thrown: Any = getattr(problem, "java_exception", None)
    text = str(problem)
    with suppress(Exception):
        text = str(thrown.getMessage())
    return one_line(text.strip().split("\n")[0]).rstrip(".")
