"""Shared code of the mains: arguments, ports, session, and one-line errors."""

from __future__ import annotations

import argparse
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from evenkeel.engine import wiring
from evenkeel.engine.config import Settings
from evenkeel.engine.model.errors import EvenkeelError
from evenkeel.engine.model.logs import printable_error
from evenkeel.engine.model.text import one_line
from evenkeel.engine.ports import Lake
from evenkeel.spark_tasks import application, memory
from evenkeel.spark_tasks.session import java_ended, session
from evenkeel.spark_tasks.spark_settings import Place

Run = Callable[[SparkSession, Lake, Settings, str, str], object]
"""A step on Spark, with a snapshot and a shell pattern of groups."""


def run_job(name: str, run: Run, arguments: list[str] | None) -> int:
    """
    Run a step on a snapshot from the command line.

    Args:
        name: Name of the step and of the Spark application.
        run: The step.
        arguments: Command line arguments; the default is those of this process.

    Returns:
        0, or the exit code of an error, which is the last line of the output.
    """
    options = arguments_of(name).parse_args(arguments)

    def work(settings: Settings) -> None:
        lake = wiring.lake(settings)
        # report a missing snapshot before Spark starts
        lake.manifest("snapshot", options.snapshot_id)
        with opened(f"evenkeel {name} {options.snapshot_id}", settings.lake) as spark:
            run(spark, lake, settings, options.snapshot_id, options.groups)

    return ended(work)


def arguments_of(name: str) -> argparse.ArgumentParser:
    """The argument parser of a step."""
    parser = argparse.ArgumentParser(prog=f"python -m evenkeel.spark_tasks.{name}")
    parser.add_argument("--snapshot-id", required=True, help="id of the snapshot in the lake")
    parser.add_argument(
        "--groups", default="*", metavar="PATTERN", help="shell pattern of group ids"
    )
    return parser


def ended(work: Callable[[Settings], object]) -> int:
    """Run with the configuration; returns 0, or the exit code of an error, which is the last line of the output."""
    # a task that is killed cleans up after Spark as one that ends does
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        settings = wiring.settings()
        with _told_of_memory():
            work(settings)
    except EvenkeelError as problem:
        print(one_line(problem), file=sys.stderr, flush=True)
        return problem.exit_code
    except Exception as problem:  # noqa: BLE001
        traceback.print_exception(printable_error(problem))
        return 1
    return 0


@contextmanager
def opened(name: str, lake: str) -> Iterator[SparkSession]:
    """A session that logs the work of a cluster."""
    with (
        session(name, lake) as spark,
        application.telling(spark) if Place.named().is_cluster else nullcontext(),
    ):
        yield spark


@contextmanager
def _told_of_memory() -> Iterator[None]:
    """Turn an error for lack of memory into one line; other errors of Spark keep their traceback."""
    try:
        yield
    except (PySparkException, Py4JError, OSError) as problem:
        where = Place.named()
        said = memory.too_little(problem, where.memory, java_ended(), local=where.is_local)
        if said is None:
            raise
        raise said from problem
