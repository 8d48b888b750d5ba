"""The archive of Spark's Java classes: made once, and used by every Java that starts afterwards."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.spark

MADE = """
import sys
from pathlib import Path
from evenkeel.spark_tasks import shared_classes
shared_classes.make(file=Path(sys.argv[1]))
"""

USED = """
import sys
from evenkeel.engine.snapshots.chunks import cut
from evenkeel.spark_tasks.chunk_tasks import on_workers
from evenkeel.spark_tasks.session import session

java = [f"-XX:SharedArchiveFile={sys.argv[1]}", "-Xshare:on", f"-Xlog:class+load=info:file={sys.argv[1]}.log"]
with session("used", java=java) as spark:
    print("got", on_workers(spark, cut({"a": 1, "b": 1}, 1), lambda number, groups: groups))
"""


def test_spark_starts_from_the_archive(tmp_path):
    """Java takes Spark's classes from there, and a job gives what it gives."""
    archive = tmp_path / "folder" / "spark.jsa"

    def told(code):
        command = [sys.executable, "-c", code, str(archive)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    told(MADE)
    assert [archive] == [*archive.parent.iterdir()]
    assert "got [['a'], ['b']]" in told(USED).splitlines()
    lines = archive.with_name("spark.jsa.log").read_text().splitlines()
    spark = [line for line in lines if " org.apache.spark." in line]
    shared = [line for line in spark if "shared objects file (top)" in line]
    assert len(shared) > len(spark) / 2 > 500
