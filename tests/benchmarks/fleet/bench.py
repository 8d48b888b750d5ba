"""Measure runs over fleets: a lake and a database for each, every step started as the DAG starts it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.benchmarks.fleet.results import AGAIN, Run, StepTaken
from tests.helpers.fleet import Shape
from tests.stage.postgres import EmbeddedPostgres
from tests.stage.process import LocalClusterError, default_home

METER, TASK = (Path(__file__).with_name(name) for name in ("meter.py", "task.py"))
ROOT = Path(__file__).resolve().parents[3]

CONFIG = """\
[clusters.fleet]
bootstrap = "localhost:9092"

[[rules]]
groups = "*"
auto_offset_reset = "latest"

[[rules]]
groups = "*-audit-*"
auto_offset_reset = "earliest"
assignors = ["range", "cooperative-sticky"]

[[rules]]
groups = "*-writer-*"
isolation = "read_committed"
"""
"""What a team would have configured: how groups begin, what some of them can run."""

WARM_UP = Shape(groups=100, snapshots=2)
"""Enough to meet every strategy and every way it takes."""

NOT_RUN = "not run"
NOTHING: Mapping[str, float] = {"wall_seconds": 0.0, "processor_seconds": 0.0}

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """
    A step.

    Attributes:
        name: Of the task in the DAG.
        rows_of: The steps of the lake whose rows are counted: those it checks, or those it writes.
    """

    name: str
    rows_of: Sequence[str] = ()

    def rows(self, lake: Path, snapshot_id: str) -> int:
        """How many rows it was about, by the manifests in the lake's folder, whichever version wrote them."""
        manifests = [
            json.loads(path.read_text(encoding="utf-8"))
            for name in self.rows_of
            for path in (lake / "_manifests" / name).rglob(f"{snapshot_id}.json")
        ]
        return sum(sum(manifest["rows"].values()) for manifest in manifests)


STEPS: Sequence[Step] = (
    Step(name="validate_snapshot", rows_of=("snapshot",)),
    Step(name="measure_and_propose", rows_of=("metrics", "candidates")),
    Step(name="validate_candidates", rows_of=("metrics", "candidates")),
    Step(name="advise", rows_of=("candidates",)),
    Step(name="alert"),
)
"""What a run does after its snapshot. A new step is a line here."""


@dataclass(frozen=True, kw_only=True)
class Checkout:
    """
    The code that is measured.

    Attributes:
        folder: Of the checkout.
        python: Its interpreter.
    """

    folder: Path
    python: Path

    @classmethod
    def at(cls, folder: Path | None) -> Checkout:
        """A checkout with its `.venv`; without a folder this one, with the interpreter that runs."""
        if folder is None:
            return cls(folder=ROOT, python=Path(sys.executable))
        return cls(folder=folder.resolve(), python=folder.resolve() / ".venv" / "bin" / "python")

    @property
    def name(self) -> str:
        """The commit, and whether something was changed since."""
        command = ["git", "-C", str(self.folder), "describe", "--always", "--dirty"]
        told = subprocess.run(command, capture_output=True, text=True, check=False)
        return told.stdout.strip() or "unknown"


@dataclass(frozen=True, kw_only=True)
class Place:
    """
    Where runs are measured.

    Attributes:
        folder: Takes everything.
        server: A real Postgres.
        checkout: What is measured.
        limit: Seconds after which a step is cut off.
        tell: Told how it goes.
    """

    folder: Path
    server: EmbeddedPostgres
    checkout: Checkout
    limit: float
    tell: Tell


@contextmanager
def place(checkout: Checkout, limit: float, tell: Tell) -> Iterator[Place]:
    """A folder and a Postgres, gone at the end."""
    home = default_home()
    home.mkdir(parents=True, exist_ok=True)
    with (
        TemporaryDirectory(prefix="fleet-", dir=home) as name,
        EmbeddedPostgres(Path(name) / "pg") as server,
    ):
        yield Place(folder=Path(name), server=server, checkout=checkout, limit=limit, tell=tell)


def measured(where: Place, shape: Shape, rounds: int = 1) -> list[Run]:
    """A run over one fleet, and more with nothing changed; after a step that fails the others do not run."""
    where.tell(f"{shape.groups:,} groups: writing {shape.snapshots} snapshots")
    lake = where.folder / "lake"
    told = written(where.checkout, lake, shape)
    database = f"evenkeel_test_fleet_{shape.groups}"
    try:
        environment = _environment(where, where.server.database(database))
        _before(where, "prepare", told["newest"], environment)
        steps = [tuple(_steps(where, lake, told["newest"], environment)) for _ in range(rounds)]
    finally:
        shutil.rmtree(lake)
        with suppress(LocalClusterError):  # a server that broke down failed a step, which is told
            where.server.drop_database(database)
            where.server.drop_role(database)
    return [
        Run(
            groups=shape.groups,
            partitions=told["partitions"],
            members=told["members"],
            giant=shape.has_giant,
            seed=shape.seed,
            checkout=where.checkout.name + AGAIN * (number > 0),
            steps=own,
        )
        for number, own in enumerate(steps)
    ]


def written(checkout: Checkout, folder: Path, shape: Shape) -> dict[str, Any]:
    """
    Write a fleet's lake, by the checkout's own code: newer code may lay a lake out as older cannot read it.

    Returns:
        What `python -m tests.helpers.fleet` tells.
    """
    command = [str(checkout.python), "-m", "tests.helpers.fleet", str(folder)]
    told = subprocess.run(
        [*command, json.dumps(asdict(shape))],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=folder.parent,
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, Any] = json.loads(told.stdout)
    return found


def _environment(where: Place, database_url: str) -> dict[str, str]:
    """Nothing of the user's configuration, and Airflow's own folder and all temporary ones among ours."""
    config, scratch = where.folder / "evenkeel.toml", where.folder / "tmp"
    config.write_text(CONFIG)
    scratch.mkdir(exist_ok=True)
    left_out = (
        "EVENKEEL_",
        "AIRFLOW",
        "PYTHONPATH",  # it may lead to other code than is measured
        "PYTHONDONTWRITEBYTECODE",  # an installation has its own compiled
    )
    own = {k: v for k, v in os.environ.items() if not k.startswith(left_out)}
    kept = {k: v for k, v in os.environ.items() if k.startswith("EVENKEEL_SPARK")}
    return {
        **own,
        **kept,
        "EVENKEEL_CONFIG": str(config),
        "EVENKEEL_LAKE": str(where.folder / "lake"),
        "EVENKEEL_DATABASE_URL": database_url,
        "AIRFLOW_HOME": str(where.folder / "airflow"),
        "PYSPARK_PYTHON": str(where.checkout.python),
        # what a step that is cut off leaves behind goes with the rest
        "TMPDIR": str(scratch),
        "FLEET_LOADING": str(where.folder / "loading.json"),
    }


def warm_up(where: Place) -> None:
    """Have what is compiled once per installation compiled before anything is measured."""
    where.tell("warming up")
    told = written(where.checkout, where.folder / "lake", WARM_UP)
    _before(where, "warm_up", told["newest"], _environment(where, "postgresql:///"))
    shutil.rmtree(where.folder / "lake")


def _before(where: Place, what: str, snapshot_id: str, environment: Mapping[str, str]) -> None:
    command = [str(where.checkout.python), str(TASK), snapshot_id, what]
    subprocess.run(command, env=environment, check=True, cwd=where.folder)


def _steps(
    where: Place, lake: Path, snapshot_id: str, environment: Mapping[str, str]
) -> Iterator[StepTaken]:
    failed = False
    for step in STEPS:
        if failed:
            yield StepTaken(step=step.name, failed=NOT_RUN)
            continue
        command = [str(where.checkout.python), str(TASK), snapshot_id, step.name]
        found = metered(command, environment, where.folder, where.limit)
        loading = _loading(Path(environment["FLEET_LOADING"]))
        problem = found["last_line"] or f"it ended with code {found['exit_code']}"
        failed = bool(found["exit_code"])
        taken = StepTaken(
            step=step.name,
            wall_seconds=found["wall_seconds"] - loading["wall_seconds"],
            processor_seconds=found["processor_seconds"] - loading["processor_seconds"],
            peak_mb=found["peak_mb"],
            rows=None if failed else step.rows(lake, snapshot_id),
            failed=problem if failed else None,
        )
        where.tell(_line(taken))
        yield taken


def _line(taken: StepTaken) -> str:
    if taken.wall_seconds is None:
        return f"  {taken.step}: {taken.failed}"
    return (
        f"  {taken.step}: {taken.wall_seconds:.1f} s, {taken.processor_seconds:.1f} processor s, "
        f"{taken.peak_mb:,.0f} MB" + (f", failed: {taken.failed}" if taken.failed else "")
    )


def metered(
    command: list[str], environment: Mapping[str, str], folder: Path, limit: float
) -> dict[str, Any]:
    """What a command took, by `meter.py`; its output goes to `output.log` in that folder."""
    result = folder / "metered.json"
    result.unlink(missing_ok=True)
    meter = [sys.executable, str(METER), str(result), str(limit), *command]
    with (folder / "output.log").open("ab") as log:
        subprocess.run(
            meter, env=environment, cwd=folder, stdout=log, stderr=subprocess.STDOUT, check=True
        )
    found: dict[str, Any] = json.loads(result.read_text())
    return found


def _loading(path: Path) -> dict[str, float]:
    """What the last task spent on loading Airflow, which is left out; nothing where there was none."""
    if not path.exists():
        return dict(NOTHING)
    told: dict[str, float] = json.loads(path.read_text())
    path.unlink()
    return told
