"""``python -m tests.tiers [--nightly] [TIER ...]``: the tests in tiers; all of them by default.

Each tier is a process of its own that starts the services its tests share, once, and ends them. A test's marks say
which services it needs, so every test is in exactly one tier. Tiers that compute run one after another in one lane,
tiers that mostly wait for brokers or for Airflow in a second one beside it.

A run that takes longer than its limit is ended: each tier that still runs says which test it was at, and fails.

Tests marked ``nightly`` run only with ``--nightly``, which also runs every property with more cases and the programs of
`PROGRAMS`. A whole nightly run writes its summary into ``tests/README.md``.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Event, Lock
from typing import IO
from xml.etree import ElementTree

from _pytest.mark.expression import Expression

DATABASE_URL = "EVENKEEL_TEST_DATABASE_URL"
CHECKOUT = Path(__file__).resolve().parents[1]
README = CHECKOUT / "tests" / "README.md"

# Each worker imports everything again: more of them than this cost more than they bring.
PARALLEL = ("-n", "logical", "--maxprocesses", "4")
# Tests of a file share what its fixtures start.
BY_TEST, BY_FILE = ((*PARALLEL, "--dist", how) for how in ("worksteal", "loadfile"))

DOCTESTS = (
    *(".src/evenkeel/engine", ".src/evenkeel/sql", "tests/helpers/snapshots.py"),
    *("tests/helpers/fleet", "tests/helpers/fluid", "tests/benchmarks/fleet/results.py"),
    *("tests/helpers/streams_groups.py", "tests/helpers/made_tables.py"),
    *("tests/stage/chaos/plan.py", "tests/faults/plan.py", "tests/supply/licenses.py"),
)
AIRFLOW = "tests/unit/dags"
SLOW_TO_IMPORT = (AIRFLOW, "tests/unit/expectations")
"""Airflow and Great Expectations take seconds; the fast tier does not even look there."""

ORACLES = tuple(
    str(path.relative_to(CHECKOUT))
    for path in sorted(CHECKOUT.glob("tests/integration/test_*oracle.py"))
)


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
    marks: str = ""
    """What pytest takes after ``-m``; the expressions of all tiers split the tests."""
    paths: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    services: Callable[[], AbstractContextManager[dict[str, str] | None]] = nullcontext
    """What its workers share beyond what fixtures start: it yields what goes into the environment."""
    waits: bool = False
    """Whether it mostly waits for what it started; such tiers run beside those that compute."""
    program: tuple[str, ...] = ()
    """What it runs in place of pytest."""

    @cached_property
    def _chosen(self) -> Expression:
        return Expression.compile(self.marks)

    def chooses(self, marks: Collection[str]) -> bool:
        """Whether a test with these marks is in this tier."""
        return self._chosen.evaluate(lambda name: name in marks)

    def command(self, report: Path, nightly: bool) -> tuple[str, ...]:
        """What to run; pytest writes its counts into the *report*."""
        if self.program:
            return self.program
        # Hypothesis marks its properties; what needs no service asks each of them with more cases
        more = "(nightly or hypothesis)" if self.name == "fast" else "nightly"
        chosen = f"({self.marks}) and {more if nightly else 'not nightly'}"
        # services live through a whole tier: what they have been through is the same in each run
        order = ("--randomly-dont-reorganize",) if self.waits else ()
        asked = ("-q", *self.paths, "-m", chosen, *self.options, *order, f"--junit-xml={report}")
        return (sys.executable, "-m", "pytest", *asked, "--durations=5")


TIERS = (
    Tier(
        "fast",
        "needs nothing: no service, no compiler, nothing that loads for seconds",
        "not (airflow or slow or postgres or kafka or spark)",
        ("tests/unit", *DOCTESTS),
        (*BY_TEST, *(f"--ignore={folder}" for folder in SLOW_TO_IMPORT)),
    ),
    Tier(
        "slow",
        "needs no service, but Great Expectations loaded, a compiler, a JVM or patience",
        "slow and not (airflow or postgres or kafka or spark)",
        ("tests/unit", "tests/integration/adapters/test_lake_s3.py", *ORACLES),
        (*BY_FILE, f"--ignore={AIRFLOW}"),
    ),
    Tier(
        "airflow",
        "needs no service, but Airflow loaded",
        "airflow and not (postgres or kafka or spark)",
        # not in parallel: what Airflow imports of Spark ends an xdist worker while it collects
        (AIRFLOW,),
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
        "spark",
        "a local session; a standalone cluster with an S3 server",
        "spark and not kafka",
        ("tests/integration",),
    ),
    Tier(
        "brokers",
        "three brokers with the workload; brokers of their own for tests that kill or guard them",
        "kafka and not spark",
        ("tests/integration",),
        waits=True,
    ),
    Tier(
        "turns",
        "Airflow and Postgres; the plain form does what Spark would",
        "airflow and postgres and not (kafka or spark)",
        ("tests/acceptance",),
        waits=True,
    ),
    Tier(
        "flow",
        "everything: brokers, workload, Postgres, Airflow, Spark",
        "kafka and spark",
        ("tests/acceptance",),
        waits=True,
    ),
)

_PYTHON = (sys.executable, "-m")
PROGRAMS = (
    Tier(
        "oracle",
        "2,000 random groups or applications for each strategy, put before Kafka's own classes",
        program=(*_PYTHON, "tests.oracle"),
    ),
    Tier(
        "chaos",
        "ten minutes of hangs and kills in a demo of its own, after which every promise holds",
        waits=True,
        program=(*_PYTHON, "tests.stage", "chaos", "--minutes", "10"),
    ),
    Tier(
        "twins",
        "ten pairs of groups on brokers, of which one switches: what staying brings, replayed and measured",
        waits=True,
        program=(*_PYTHON, "tests.twins"),
    ),
    Tier(
        "faults",
        "100 runs of the pipeline with faults drawn by seed, compared with the run without",
        program=(*_PYTHON, "tests.faults"),
    ),
    Tier(
        "clocks",
        "the history at the turn of a month, by a shifted clock; needs faketime",
        program=(
            *("faketime", "2027-03-01 00:00:20", *_PYTHON, "pytest", "-q", "-n", "2"),
            *("--dist", "loadfile", "tests/integration", "tests/unit/ports"),
            *("-m", "postgres and not (airflow or kafka or spark or nightly)"),
            # timers of a server with a shifted clock never ring; how long it may take is no question of the date
            "--ignore=tests/integration/adapters/postgres/test_timeouts.py",
            *("-k", "not that_somebody_reads"),
        ),
    ),
    Tier(
        "audit",
        "known vulnerabilities of what is pinned; needs a database of them",
        waits=True,
        program=(*_PYTHON, "tests.supply.audit"),
    ),
)
"""What a nightly run does beside tests."""


def stray(nodeid: str, marks: Collection[str]) -> bool:
    """Whether a test lies where the tier that its marks choose does not look."""
    (tier,) = (t for t in TIERS if t.chooses(marks))
    left_out = [o.removeprefix("--ignore=") for o in tier.options if o.startswith("--ignore=")]
    return not nodeid.startswith(tier.paths) or nodeid.startswith(tuple(left_out))


LIMIT_MINUTES = 75
"""What CI has, less what installing takes; a nightly run has none."""
GRACE = 60.0
"""Seconds for fixtures to end what they started."""
NOTHING_CHOSEN = 5
"""Pytest's exit code where no test is chosen: not every tier has nightly tests."""
NOT_CHECKED = 75
"""A program's exit code where it could not do what it is for: no failure of ours, and no success."""


@dataclass(frozen=True)
class Outcome:
    """How a tier ended."""

    tier: str
    exit_code: int
    tests: int | None
    failed: int | None
    skipped: int | None
    seconds: float
    processor_seconds: float
    """Of its tests and what these started and ended."""

    @property
    def verdict(self) -> str:
        """Whether all went well, or nothing was learnt."""
        return {0: "ok", NOT_CHECKED: "NOT CHECKED"}.get(self.exit_code, "FAILED")

    @property
    def counts(self) -> str:
        """How many tests, where it is pytest that ran."""
        if self.tests is None:
            return "-"
        return f"{self.tests} tests, {self.failed} failed, {self.skipped} skipped"

    @property
    def line(self) -> str:
        """One line for a person."""
        spent = f"{self.seconds:5.0f} s ({self.processor_seconds:.0f} s of processor time)"
        return f"{self.tier:<12} {self.verdict:<11} {self.counts:<40} {spent}"


class Run:
    """Some tiers, in two lanes: those that compute, and those that mostly wait."""

    def __init__(self, tiers: Sequence[Tier], nightly: bool) -> None:
        self.tiers, self.nightly = tiers, nightly
        self.outcomes: dict[str, Outcome] = {}
        self._printing, self._interrupted = Lock(), Event()
        self._running: set[subprocess.Popen[bytes]] = set()

    def run(self, seconds: float | None = None) -> None:
        """Run them all, whether or not some fail; an interrupt, or the limit, ends what runs and starts no more.

        Raises `TimeoutError` where they took longer than the *seconds*.
        """
        lanes = [[t for t in self.tiers if t.waits is waits] for waits in (False, True)]
        with ThreadPoolExecutor(len(lanes)) as pool:
            running = [pool.submit(self._run_lane, lane) for lane in lanes]
            try:
                late = wait(running, seconds).not_done
                if late:
                    raise TimeoutError
            except (KeyboardInterrupt, TimeoutError):
                self._end()
                raise
            for lane in running:
                lane.result()

    def _end(self) -> None:
        """Ask what runs to end, as Ctrl-C does, so that pytest says where it was; then insist."""
        self._interrupted.set()
        # at the second all its threads say where they are
        for ask, patience in ((signal.SIGINT, GRACE), (signal.SIGABRT, 5), (signal.SIGKILL, 0)):
            for process in tuple(self._running):
                process.send_signal(ask)
            until = time.monotonic() + patience
            while self._running and time.monotonic() < until:
                time.sleep(0.1)

    def _run_lane(self, lane: Sequence[Tier]) -> None:
        for tier in lane:
            if self._interrupted.is_set():
                return
            self._run_tier(tier)

    def _run_tier(self, tier: Tier) -> None:
        """Run one; it prints as it goes where it is alone, else when it is over."""
        title = f"== {tier.name}: {tier.purpose}"
        if len(self.tiers) == 1:
            print(title, flush=True)
            self.outcomes[tier.name] = run(tier, self.nightly, running=self._running)
            return
        print(f"{title} (began)", flush=True)
        with TemporaryFile() as out:
            self.outcomes[tier.name] = run(tier, self.nightly, out, self._running)
            out.seek(0)
            with self._printing:
                print(title, out.read().decode(errors="replace"), sep="\n", flush=True)

    @property
    def lines(self) -> list[str]:
        """A line for each tier that ended, in the order in which they were asked for."""
        return [self.outcomes[t.name].line for t in self.tiers if t.name in self.outcomes]


def run(
    tier: Tier,
    nightly: bool = False,
    out: IO[bytes] | None = None,
    running: set[subprocess.Popen[bytes]] | None = None,
) -> Outcome:
    """Run a tier; what it prints goes into a file, or where this prints. While it runs it is among the *running*."""
    began = time.monotonic()
    with TemporaryDirectory(prefix="evenkeel-tier-") as folder, tier.services() as named:
        report = Path(folder) / "report.xml"
        command = tier.command(report, nightly)
        status, used = _wait_for(command, named or {}, out, set() if running is None else running)
        tests, failed, skipped = _counted(report)
    seconds = time.monotonic() - began
    if nightly and status == NOTHING_CHOSEN:
        status = 0
    return Outcome(tier.name, status, tests, failed, skipped, seconds, used)


def _wait_for(
    command: tuple[str, ...],
    named: dict[str, str],
    out: IO[bytes] | None,
    running: set[subprocess.Popen[bytes]],
) -> tuple[int, float]:
    """Exit code and processor seconds of a command."""
    environment = {**os.environ, **named}
    try:
        process = subprocess.Popen(
            command, cwd=CHECKOUT, env=environment, stdout=out, stderr=out and subprocess.STDOUT
        )
    except FileNotFoundError as missing:
        (out or sys.stdout.buffer).write(f"{missing.filename} is not installed\n".encode())
        return 127, 0.0
    running.add(process)
    _, status, used = os.wait4(process.pid, 0)
    running.discard(process)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_utime + used.ru_stime


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


def write_summary(outcomes: Sequence[Outcome]) -> None:
    """Put the outcomes of a whole nightly run into ``tests/README.md``, with date and commit."""
    git = ("git", "rev-parse", "--short", "HEAD")
    commit = subprocess.run(git, cwd=CHECKOUT, capture_output=True, text=True, check=True)
    head = f"Last run: {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, commit {commit.stdout.strip()}."
    rows = [f"| `{o.tier}` | {o.verdict} | {o.counts} | {o.seconds:.0f} |" for o in outcomes]
    table = "\n".join(["| tier | outcome | tests | seconds |", "| --- | --- | --- | ---: |", *rows])
    begin, end = "<!-- nightly -->\n", "<!-- end -->"
    found = f"{begin}\n{head}\n\n{table}\n\n{end}"
    text = README.read_text()
    README.write_text(re.sub(f"{begin}.*?{end}", lambda _: found, text, flags=re.DOTALL))


def main(arguments: list[str] | None = None) -> int:
    """Run the tiers that were asked for, then print a line for each."""
    every = (*TIERS, *PROGRAMS)
    purposes = "\n".join(f"  {tier.name:<12} {tier.purpose}" for tier in every)
    parser = argparse.ArgumentParser(
        prog="python -m tests.tiers",
        description="Run the tests, tier by tier.",
        epilog=f"tiers:\n{purposes}\n\nHYPOTHESIS_PROFILE is quick, ci (the default) or nightly.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("tier", nargs="*", metavar="TIER", help="all by default")
    parser.add_argument(
        "--nightly", action="store_true", help="what make test leaves out, and the programs"
    )
    parser.add_argument(
        "--limit-minutes",
        type=float,
        metavar="N",
        help=f"end what runs longer; {LIMIT_MINUTES} by default, none with --nightly",
    )
    options = parser.parse_args(arguments)
    offered = every if options.nightly else TIERS
    if unknown := set(options.tier) - {tier.name for tier in offered}:
        parser.error(f"no such tier: {', '.join(sorted(unknown))}")
    if options.nightly:
        os.environ.setdefault("HYPOTHESIS_PROFILE", "nightly")
    # where a shell in the background ignores it, the tiers would too
    signal.signal(signal.SIGINT, signal.default_int_handler)
    minutes = options.limit_minutes or (None if options.nightly else LIMIT_MINUTES)
    asked = Run([t for t in offered if t.name in (options.tier or [t.name])], options.nightly)
    try:
        asked.run(minutes and minutes * 60)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except TimeoutError:
        print(f"ended: it took longer than {minutes:g} minutes", file=sys.stderr)
        return 1
    finally:
        profile = os.environ.get("HYPOTHESIS_PROFILE", "ci")
        print("\n".join(["", f"profile {profile}", *asked.lines]))
    outcomes = [*asked.outcomes.values()]
    if options.nightly and not options.tier:
        write_summary(outcomes)
    return int(any(outcome.exit_code for outcome in outcomes))


if __name__ == "__main__":
    # whoever ends the run wants to know where it was, too
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
