"""The folder of followers by itself: under another name, beside nothing but kafka-python."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evenkeel.engine import followers

FOLDER = Path(followers.__file__).parent
FORBIDDEN = ("pyspark", "airflow", "numpy", "pandas", "sqlalchemy", "pydantic")

LOADED = """
import json, sys
from importlib import import_module
found = import_module(sys.argv[1])
found.PlanAssignor(plan="/plan.json", group="g").metadata({"t"})
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plans_of_ours", "evenkeel.engine.followers"])
def test_a_follower_needs_nothing_but_its_folder(name: str, tmp_path: Path) -> None:
    """A copy of it knows no evenkeel; where it is imported of evenkeel, nothing heavy comes along."""
    ours = "evenkeel" in name
    path = FOLDER.parents[2] / ".src" if ours else tmp_path
    if not ours:
        shutil.copytree(FOLDER, tmp_path / name)
    program = f"import sys; sys.path.insert(0, {str(path)!r}){LOADED}"
    command = [sys.executable, "-c", program, f"{name}.kafka_python"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded = set(json.loads(done.stdout))
    assert not loaded & set(FORBIDDEN)
    assert ("evenkeel" in loaded) == ours
