"""``python -m tests.tiers [TIER ...]``: the tests in tiers; all of them by default.

Each tier is a process of its own that starts the services its tests share, once, and ends them. What
services a test needs is said by its marks; so every test is in exactly one tier. One tier comes after the
other, but for the two that need no service: they share the processors.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO
from xml.etree import ElementTree

from _pytest.mark.expression import Expression

DATABASE_URL = "EVENKEEL_TEST_DATABASE_URL"
CHECKOUT = Path(__file__).resolve().parents[1]

# Each worker imports everything again: more of them than this cost more than they bring.
PARALLEL = ("-n", "logical", "--maxprocesses", "4")
# Tests of a file share what its fixtures start.
BY_TEST, BY_FILE = ((*PARALLEL, "--dist", how) for how in ("worksteal", "loadfile"))

DOCTESTS = (
    *(".src/evenkeel/engine", ".src/evenkeel/sql", "tests/helpers/snapshots.py"),
    *("tests/helpers/fleet", "tests/helpers/fluid", "tests/benchmarks/fleet/results.py"),
    *("tests/helpers/streams_groups.py", "tests/helpers/made_tables.py"),
    *("tests/benchmarks/table.py", "tests/stage/chaos/plan.py"),
)
SLOW_TO_IMPORT = ("tests/unit/dags", "tests/unit/expectations")
"""Airflow and Great Expectations take seconds; the unit tier does not even look there."""


@contextmanager
def _postgres() -> Iterator[dict[str, str]]:
    """One server for all workers, unless the environment names one."""
    from tests.stage.postgres import throw_away_postgres

    if os.environ.get(DATABASE_URL):
        yield {}
        return
    with throw_away_postgres() as server:
        yield {DATABASE_URL: server.administrator_url}


@dataclass(frozen=True)
class Tier:
    """Tests that run in one process, or in parallel where they share no service."""

    name: str
    purpose: str
    marks: str
    """What pytest takes after ``-m``; the expressions of all tiers split the tests."""
    paths: tuple[str, ...]
    options: tuple[str, ...] = ()
    services: Callable[[], AbstractContextManager[dict[str, str] | None]] = nullcontext
    """What its workers share beyond what fixtures start: it yields what goes into the environment."""
    beside: bool = False
    """Whether it runs at the same time as the tier before it."""


TIERS = (
    Tier(
        "unit",
        "needs nothing",
        "not (airflow or slow or postgres or kafka or spark)",
        ("tests/unit", *DOCTESTS),
        (*BY_TEST, *(f"--ignore={folder}" for folder in SLOW_TO_IMPORT)),
    ),
    Tier(
        "slow",
        "needs no service, but Airflow or Great Expectations loaded, a compiler, a JVM or patience",
        "(airflow or slow) and not (postgres or kafka or spark)",
        # not in parallel: what Airflow imports of Spark ends an xdist worker while it collects
        ("tests/unit", "tests/integration"),
        beside=True,
    ),
    Tier(
        "postgres",
        "one server, a database for each test",
        "postgres and not (airflow or kafka or spark)",
        ("tests/integration", "tests/unit/ports"),
        BY_FILE,
        _postgres,
    ),
    Tier(
        "turns",
        "Airflow and Postgres; what Spark would do is done by the plain form",
        "airflow and postgres and not (kafka or spark)",
        ("tests/acceptance",),
    ),
    Tier(
        "brokers",
        "three brokers with the workload; brokers of their own for those that kill or guard them",
        "kafka and not spark",
        ("tests/integration",),
    ),
    Tier(
        "spark",
        "a local session; a standalone cluster with an S3 server",
        "spark and not kafka",
        ("tests/integration",),
    ),
    Tier(
        "flow",
        "everything: brokers, workload, Postgres, Airflow, Spark",
        "kafka and spark",
        ("tests/acceptance",),
    ),
)


def stray(nodeid: str, marks: Collection[str]) -> bool:
    """Whether a test lies where the tier that its marks choose does not look."""
    (tier,) = (t for t in TIERS if Expression.compile(t.marks).evaluate(lambda m: m in marks))
    left_out = [o.removeprefix("--ignore=") for o in tier.options if o.startswith("--ignore=")]
    return not nodeid.startswith(tier.paths) or nodeid.startswith(tuple(left_out))


@dataclass(frozen=True)
class Outcome:
    """What became of a tier."""

    tier: str
    exit_code: int
    tests: int | None
    failed: int | None
    skipped: int | None
    seconds: float
    processor_seconds: float
    """Of its tests and what these started and ended."""

    @property
    def line(self) -> str:
        """One line for a person."""
        verdict = "ok" if self.exit_code == 0 else "FAILED"
        counts = "no report" if self.tests is None else self._counts
        spent = f"{self.seconds:5.0f} s ({self.processor_seconds:.0f} s of processor time)"
        return f"{self.tier:<9} {verdict:<7} {counts:<40} {spent}"

    @property
    def _counts(self) -> str:
        return f"{self.tests} tests, {self.failed} failed, {self.skipped} skipped"


def batches(asked: Collection[str]) -> list[list[Tier]]:
    """The tiers that were asked for, in their order; those of a batch run at the same time."""
    found: list[list[Tier]] = []
    for tier in TIERS:
        if not tier.beside:
            found.append([])
        if tier.name in asked:
            found[-1].append(tier)
    return [batch for batch in found if batch]


def run_batch(batch: Sequence[Tier]) -> Iterator[Outcome]:
    """Run tiers at the same time; what the first prints is seen as it comes, what others do when that is over."""
    with ThreadPoolExecutor(len(batch)) as pool, ExitStack() as files:
        kept = [None, *(files.enter_context(TemporaryFile()) for _ in batch[1:])]
        running = [pool.submit(run, tier, file) for tier, file in zip(batch, kept, strict=True)]
        for tier, file, outcome in zip(batch, kept, running, strict=True):
            print(f"== {tier.name}: {tier.purpose}", flush=True)
            wait([outcome])
            if file is not None:
                file.seek(0)
                print(file.read().decode(errors="replace"), flush=True)
            yield outcome.result()


def run(tier: Tier, out: IO[bytes] | None = None) -> Outcome:
    """Run a tier's tests; what they print goes into a file, or where this prints."""
    began = time.monotonic()
    with TemporaryDirectory(prefix="evenkeel-tier-") as folder, tier.services() as named:
        report = Path(folder) / "report.xml"
        words = ["-q", *tier.paths, "-m", tier.marks, *tier.options, f"--junit-xml={report}"]
        command = [sys.executable, "-m", "pytest", *words, "--durations=5"]
        environment = {**os.environ, **(named or {})}
        process = subprocess.Popen(
            command, cwd=CHECKOUT, env=environment, stdout=out, stderr=out and subprocess.STDOUT
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        tests, failed, skipped = _counted(report)
    seconds = time.monotonic() - began
    processor = used.ru_utime + used.ru_stime
    return Outcome(tier.name, process.returncode, tests, failed, skipped, seconds, processor)


def _counted(report: Path) -> tuple[int | None, int | None, int | None]:
    """Tests, those that failed and those that were skipped; unknown where pytest did not get that far."""
    if not report.exists():
        return None, None, None
    suites = ElementTree.parse(report).getroot().findall("testsuite")
    tests, failures, errors, skipped = (
        sum(int(suite.get(name, 0)) for suite in suites)
        for name in ("tests", "failures", "errors", "skipped")
    )
    return tests, failures + errors, skipped


def main(arguments: list[str] | None = None) -> int:
    """Run the tiers that were asked for, then print a line for each."""
    purposes = "\n".join(f"  {tier.name:<9} {tier.purpose}" for tier in TIERS)
    parser = argparse.ArgumentParser(
        prog="python -m tests.tiers",
        description="Run the tests, tier by tier.",
        epilog=f"tiers:\n{purposes}\n\nHYPOTHESIS_PROFILE is quick, ci (the default) or nightly.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = [tier.name for tier in TIERS]
    parser.add_argument("tier", nargs="*", metavar="TIER", help="all by default")
    asked = parser.parse_args(arguments).tier or names
    if unknown := set(asked) - set(names):
        parser.error(f"no such tier: {', '.join(sorted(unknown))}")
    outcomes: list[Outcome] = []
    try:
        for batch in batches(asked):
            outcomes.extend(run_batch(batch))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    finally:
        profile = os.environ.get("HYPOTHESIS_PROFILE", "ci")
        print("\n".join(["", f"profile {profile}", *(outcome.line for outcome in outcomes)]))
    return int(any(outcome.exit_code for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
