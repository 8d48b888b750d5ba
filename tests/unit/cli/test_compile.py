"""`evenkeel admin compile`: after it, nothing is compiled any more."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evenkeel.engine.assignors.kit.kernels import Kernel
from evenkeel.engine.model.environment import source_folder

LARGE = """
import json
from random import Random
from evenkeel.engine.assignors.interface import build_spec
from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.cli import compile_kernels
from evenkeel.engine.assignors.kit.kernels import held_to
from evenkeel.engine.model.arrays import Column
from evenkeel.engine.streams.place import place
from tests.helpers.streams import Shape, sketch

random = Random(1)
topics = [f"t{i}" for i in range(6)]
group = build_spec(
    members=[f"m{i}" for i in range(50)],
    instance_ids=[None] * 50,
    member_racks=[random.choice("abc") for _ in range(50)],
    subscriptions=[random.sample(topics, 4) for _ in range(50)],
    topics=topics,
    partition_counts=[100] * 6,
    replica_racks=[random.sample("abc", 2) for _ in range(600)],
    owner=[random.randrange(50) for _ in range(600)],
    lag=Column.of([int(random.lognormvariate(8, 2)) for _ in range(600)]),
)
with held_to(compiled=True):
    for name in ("balanced", "uniform"):
        ASSIGNORS[name].assign(group)
    for seed in range(20):
        case = sketch(Random(seed), Shape(most_tasks=60, most_clients=30))
        place(case.app, case.config)
used = [vars(each)["fast"].stats for each in compile_kernels.kernels() if "fast" in vars(each)]
loaded, made = (sum(sum(getattr(s, of).values()) for s in used) for of in ("cache_hits", "cache_misses"))
print(json.dumps([loaded > 5, made]))
"""


@pytest.mark.slow
def test_after_it_large_groups_and_applications_load_all_that_they_need(tmp_path):
    """
    Nothing is left for a scheduled run to compile; the last line says where everything is kept.

    In a copy of which nothing is kept: what other tests have compiled would hide what this command leaves out.
    """

    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(source_folder(), tmp_path / "evenkeel", ignore=ignored)

    def python(*argv):
        done = subprocess.run(
            [sys.executable, *argv],
            env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.getcwd()}"},
            cwd=Path(__file__).parents[3],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    command = shutil.which("evenkeel", path=Path(sys.executable).parent)
    assert f" loops compiled and kept below {tmp_path}" in python(command, "admin", "compile")
    assert json.loads(python("-c", LARGE)) == [True, 0]


def test_where_nothing_can_be_kept_it_says_so(run, monkeypatch):
    """One line with the way out."""
    monkeypatch.setattr("evenkeel.engine.cli.compile_kernels.compile_all", lambda: None)
    monkeypatch.setattr(Kernel, "folders", lambda _: iter(()))
    result = run("admin", "compile")
    assert result.exit_code == 2
    assert "let NUMBA_CACHE_DIR name a folder." in result.output
