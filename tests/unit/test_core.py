"""The light core: what `pip install evenkeel` alone can do, and what it says of the rest."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from evenkeel.engine.cli.verbs import PATHS
from evenkeel.engine.model.extras import EXTRAS, install
from tests.supply import release

ROOT = Path(__file__).parents[2]
FROM = ("--from", str(ROOT / "tests" / "data" / "cluster-recording.evenkeel"))
GROUP = (*FROM, "--group", "skewed-load")
VERBS = (
    ("lag", *FROM),
    ("advise", *FROM),
    ("advise", *GROUP),
    ("tasks", *FROM, "--group", "streams-classic"),
    ("report", *FROM, "--out", "report.html"),
    ("runbook", *GROUP, "--strategy", "roundrobin"),
    ("whatif", *GROUP, "--members", "+2"),
    ("elect", *GROUP),
    ("explain", "baskets-0", *GROUP, "--strategy", "sticky"),
    ("diff", *GROUP),
    ("plan", *GROUP, "--strategy", "balanced", "--out", "plan.json"),
    ("recording", "show", FROM[1]),
    ("backtest", *FROM),
    ("assign",),
    ("check-assignor", "range", "--groups", "20"),
    ("doctor",),
)
"""What needs no service: on a recording, or on what it is told."""

CASE = {
    "id": "a",
    "strategy": "min_traffic",
    "topics": {"t": {"partitions": [["b"], ["a"]]}},
    "members": [{"id": m, "topics": ["t"], "rack": m} for m in "ab"],
}

MOST_MB = 120
"""Megabytes that an installed core takes, with what Python compiles of it."""

PROGRAM = """
import json, sys
commands, lacking = map(json.loads, sys.argv[1:])
class NotInstalled:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in lacking:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, NotInstalled)
from evenkeel.engine.cli import app
for words in commands:
    try:
        app(words)
    except SystemExit as ended:
        print("ended", ended.code or 0, *words, file=sys.stderr, flush=True)
"""


def ended(folder: Path, *commands: Sequence[str]) -> list[str]:
    """How these commands end where no extra is installed: exit code and words of each, and what went wrong."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(commands), json.dumps(list(EXTRAS))],
        cwd=folder,
        capture_output=True,
        text=True,
        input=json.dumps(CASE),
    )
    return [line for line in done.stderr.splitlines() if line.startswith(("ended ", "evenkeel: "))]


def test_help_needs_no_extra(tmp_path: Path) -> None:
    """Every verb says how it is called."""
    asked = [(*path.split(), "--help") for path in PATHS.values()]

    assert ended(tmp_path, *asked) == [f"ended 0 {' '.join(words)}" for words in asked]


def test_a_recording_needs_no_extra(tmp_path: Path) -> None:
    """Every verb without a service answers."""
    assert ended(tmp_path, *VERBS) == [f"ended 0 {' '.join(words)}" for words in VERBS]


def test_a_missing_extra_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing, and the command that installs it."""
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", "postgresql://nobody@localhost:1/nothing")
    lacking: dict[Sequence[str], str] = {
        ("backtest", *FROM, "--plot", "lag.png"): "matplotlib",
        ("admin", "compile"): "numba",
        ("admin", "pack", "--out", "x.tar.gz"): "packaging",
        ("query", "groups"): "sqlalchemy",
        ("recording", "unpack", FROM[1], "--into", "lake"): "pyarrow",
        ("mcp", *FROM): "mcp",
    }

    assert ended(tmp_path, *lacking) == [
        line
        for words, module in lacking.items()
        for line in (
            f"evenkeel: {module} is not installed. Run `{install(EXTRAS[module])}`.",
            f"ended 2 {' '.join(words)}",
        )
    ]


def test_every_package_of_an_extra_is_known_and_none_of_the_core() -> None:
    """By the modules that its packages bring, as far as we import them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    brings = {
        extra: {canonicalize_name(Requirement(text).name) for text in texts}
        for extra, texts in project["optional-dependencies"].items()
    }
    core = {canonicalize_name(Requirement(text).name) for text in project["dependencies"]}
    distributions = packages_distributions()
    for module, extra in EXTRAS.items():
        names = {canonicalize_name(name) for name in distributions[module]}
        names |= {"apache-airflow"} if module == "airflow" else set()  # itself it is empty
        assert names & brings[extra], module
        assert not names & core, module
        brings[extra] -= names
    left = set().union(*(brings[extra] for extra in set(EXTRAS.values())))
    assert {name for name in left if not name.startswith("apache-airflow-")} == {"evenkeel"}


@pytest.mark.slow
def test_the_wheel_alone_answers_from_an_empty_environment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It answers with what the wheel requires and no more, and its extras resolve; it needs a package index."""
    (wheel,) = release.build(ROOT, tmp_path, datetime.now(UTC), "wheel")
    home = tmp_path / "home"
    began = time.monotonic()
    program = release.installed(wheel, home)
    lines = [f"installed: {time.monotonic() - began:.1f} s, {_megabytes(home):.0f} MB"]
    lacking = {name.name.partition("-")[0] for name in home.glob("lib/*/site-packages/*")}
    assert lacking & set(EXTRAS) == set()

    for words in (["--help"], ["--version"], *VERBS[:2], ("assign",)):
        began = time.monotonic()
        done = subprocess.run(
            [program, *words],
            cwd=tmp_path,
            env={k: v for k, v in os.environ.items() if not re.match("PYTHON|EVENKEEL", k)},
            capture_output=True,
            text=True,
            input=json.dumps(CASE),
        )
        assert (done.returncode, words) == (0, words), done.stderr
        lines.append(f"{time.monotonic() - began:4.1f} s  evenkeel {words[0]}")
    with capsys.disabled():
        print("", *lines, sep="\n")
    assert _megabytes(home) < MOST_MB
    release.check_extras(wheel, home)


def _megabytes(folder: Path) -> float:
    files = (path for path in folder.rglob("*") if not path.is_symlink() and path.is_file())
    return sum(path.stat().st_size for path in files) / 1e6
