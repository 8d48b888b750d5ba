"""The thin main both Spark steps share: arguments in, ports and session built, one line when it fails."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from evenkeel.engine import steps, wiring
from evenkeel.engine.config import Settings
from evenkeel.engine.errors import EvenkeelError
from evenkeel.engine.text import one_line
from evenkeel.spark_tasks import memory, preflight
from evenkeel.spark_tasks.cluster import is_local
from evenkeel.spark_tasks.session import given_memory, java_ended, master, on_cluster, session

Run = Callable[..., object]

Sessions = Callable[..., AbstractContextManager[SparkSession]]
"""Opens a session, as `session.session` does."""

ALSO = timedelta(minutes=3)
"""How long overtaken snapshots are worked on beside the one that is advised on."""


def run_job(
    name: str, run: Run, arguments: list[str] | None, sessions: Sessions | None = None
) -> int:
    """
    Run a step on one snapshot.

    Args:
        name: The step, which is also the Spark application's name.
        run: Called with (spark, lake, settings, snapshot_id, pattern).
        arguments: Of the command line; without them this process's.
        sessions: Opens a session in place of `session.session`: several steps may share one.

    Returns:
        0, or the exit code of the error, whose one line is the last of the output.
    """
    options = _parse(name, arguments)
    return ended(lambda settings: _start(sessions or session, name, run, settings, options))


def ended(work: Callable[[Settings], object]) -> int:
    """Do some work by the configuration; 0, or the exit code of the error, whose one line is the last of the output."""
    # a task that is killed cleans up after Spark as one that ends does
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        settings = wiring.settings()
        with _told_of_memory():
            work(settings)
    except EvenkeelError as problem:
        print(one_line(problem), file=sys.stderr, flush=True)
        return problem.exit_code
    return 0


@contextmanager
def opened(sessions: Sessions, application: str, lake: str) -> Iterator[SparkSession]:
    """A session in which what happens on a cluster is told."""
    with (
        sessions(application, lake) as spark,
        preflight.telling(spark) if on_cluster() else nullcontext(),
    ):
        yield spark


@contextmanager
def _told_of_memory() -> Iterator[None]:
    """That memory was too little is an error of ours, in one line; any other of Spark's keeps its traceback."""
    try:
        yield
    except (PySparkException, Py4JError, OSError) as problem:
        said = memory.too_little(problem, given_memory(), java_ended(), local=is_local(master()))
        if said is None:
            raise
        raise said from problem


def _start(
    sessions: Sessions,
    name: str,
    run: Run,
    settings: Settings,
    options: argparse.Namespace,
) -> None:
    lake = wiring.lake(settings)
    # a snapshot that is not there is said before Spark's seconds are spent
    lake.manifest("snapshot", options.snapshot_id)
    with opened(sessions, f"evenkeel {name} {options.snapshot_id}", settings.lake) as spark:
        run(spark, lake, settings, options.snapshot_id, options.groups)
        steps.on_the_way(
            options.also,
            lambda one: run(spark, lake, settings, one, "*"),
            ALSO,
            lambda line: print(line, flush=True),
            PySparkException,
        )


def _parse(name: str, arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"python -m evenkeel.spark_tasks.{name}")
    parser.add_argument("--snapshot-id", required=True, help="which snapshot, as the lake has it")
    parser.add_argument(
        "--groups", default="*", metavar="PATTERN", help="shell pattern of group ids"
    )
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="SNAPSHOT_ID",
        help="an overtaken snapshot to serve as well, after the other, if it can be; may be repeated",
    )
    return parser.parse_args(arguments)
