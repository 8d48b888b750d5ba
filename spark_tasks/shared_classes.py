"""
An archive of Spark's Java classes, which halves the processor time until Spark has started on this machine.

    python -m evenkeel.spark_tasks.shared_classes

`evenkeel admin compile` creates it. Java ignores it if it is of another Java or of other classes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark import SparkContext

from evenkeel.engine.config import Settings
from evenkeel.engine.model.errors import ConfigError
from evenkeel.engine.snapshots.chunks import cut
from evenkeel.spark_tasks import session
from evenkeel.spark_tasks.chunk_tasks import on_workers
from evenkeel.spark_tasks.job import ended
from evenkeel.spark_tasks.spark_settings import CLASSES


def make(_: Settings | None = None, file: Path = CLASSES) -> None:
    """
    Create the archive: run a small job, and let Java store the classes that it has loaded.

    Raises:
        ConfigError: Java didn't store them.
        OSError: The folder cannot be written.
    """
    file.parent.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=file.parent) as folder:
        new = Path(folder, file.name)
        with session.session("classes", java=[f"-XX:ArchiveClassesAtExit={new}"]) as spark:
            on_workers(spark, cut({"a": 1, "b": 1}, 1), _nothing)
        # it stores them when it ends, which it does as nobody holds its input any more
        gateway = SparkContext._gateway
        assert gateway is not None
        gateway.shutdown()
        with suppress(BrokenPipeError):
            gateway.proc.stdin.close()
        if gateway.proc.wait() or not new.exists():
            raise ConfigError(f"Java did not store its classes in {file.parent}.")
        new.replace(file)


def _nothing(number: int, groups: Sequence[str]) -> None:
    pass


if __name__ == "__main__":
    sys.exit(ended(make))
