"""
``python -m tests.corpus [demo|chaos|twins]``: make the recordings of `tests/data/corpus` again, with their truth.

Each runs on real brokers that it starts and ends: the demo for a quarter of an hour, chaos for ten minutes and until
everything works again, twins until all pairs were looked at for five minutes. They are not to run side by side.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from threading import Event, Thread
from typing import Any

from evenkeel.engine import wiring
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.recording import Recording, write_recording
from evenkeel.engine.config import load
from evenkeel.engine.model.errors import EvenkeelError
from evenkeel.engine.pipeline.snapshot import take_snapshot
from evenkeel.engine.ports.lake import ALL, Lake
from evenkeel.engine.snapshots import facts_of
from tests.corpus.known import KnownPair, blows, workload_groups, workload_topics
from tests.corpus.truth import FOLDER, Truth, moment, save
from tests.stage.chaos import run as chaos
from tests.stage.kafka.jars import KAFKA_VERSION
from tests.stage.process import default_home, wait_until
from tests.stage.services import Demo
from tests.twins import __main__ as twins
from tests.twins.groups import Twins
from tests.twins.run import Lived

DEMO_SNAPSHOTS = 12
DEMO_SECONDS = 1800
EVERY_SECONDS = 15.0
TWINS = ("--pairs", "4", "--nulls", "2")


def demo() -> None:
    """The demo as it is, its DAGs on their schedules."""
    made = Demo(default_home() / "corpus")
    lake = FileLake(str(made.home / "lake"))
    with chaos.started(made):
        wait_until(
            lambda: len(lake.snapshots(made.name, limit=ALL)) >= DEMO_SNAPSHOTS,
            DEMO_SECONDS,
            f"{DEMO_SNAPSHOTS} snapshots",
            interval=1,
        )
        _keep_demo("demo", made, lake, ())


def of_chaos() -> None:
    """The nightly run of chaos, looked at from outside: what is hurt takes few snapshots itself."""
    chaos.main([], _observed)


@contextmanager
def _observed(sandbox: Demo, _: Mapping[str, Any]) -> Iterator[chaos.Keep]:
    """Take snapshots as `evenkeel snapshot record` does, but go on where one cannot be taken."""
    settings, lake, ended = load(path=sandbox.config), Recording(), Event()

    def look() -> None:
        while not ended.wait(EVERY_SECONDS):
            with suppress(EvenkeelError), closing(wiring.cluster(settings, sandbox.name)) as reader:
                take_snapshot(reader, lake, None, settings, sandbox.name)

    def keep(struck: Sequence[chaos.Struck]) -> None:
        ended.set()
        looking.join()
        _keep_demo("chaos", sandbox, lake, struck)

    looking = Thread(target=look)
    looking.start()
    try:
        yield keep
    finally:
        ended.set()
        looking.join()


def _keep_demo(name: str, made: Demo, lake: Lake, struck: Sequence[chaos.Struck]) -> None:
    groups = json.loads((made.workload / "settled.json").read_text())["groups"]
    ids = lake.snapshots(made.name, limit=ALL)
    began, ended = _span(lake, ids)
    _keep(
        lake,
        ids,
        Truth(
            **_about(name, began, ended),
            groups=workload_groups(groups, began),
            topics=workload_topics(began),
            events=blows(struck),
        ),
    )


def of_twins() -> None:
    """Some of the nightly pairs."""

    def keep(every: Sequence[Twins], lived: Lived, seconds: float) -> None:
        lake = Recording()
        for snapshot in lived.snapshots:
            lake.write("snapshot", snapshot.snapshot_id, snapshot.tables, facts_of(snapshot))
        known = [KnownPair(each, lived, seconds) for each in every]
        ids = lake.snapshot_ids
        events = [event for pair in known for event in pair.events]
        truth = Truth(
            **_about("twins", *_span(lake, ids)),
            groups=[group for pair in known for group in pair.groups],
            topics=[pair.topic for pair in known],
            events=sorted(events, key=lambda event: event.at),
            pairs=[pair.measured for pair in known],
        )
        _keep(lake, ids, truth)

    twins.main(TWINS, keep)


def _about(name: str, began: datetime, ended: datetime) -> dict[str, str]:
    return {
        "recording": f"{name}.evenkeel",
        "command": f"python -m tests.corpus {name}",
        "kafka": KAFKA_VERSION,
        "began": moment(began),
        "ended": moment(ended),
    }


def _span(lake: Lake, ids: Sequence[str]) -> tuple[datetime, datetime]:
    """When the first and the last snapshot were taken."""
    moments = sorted(lake.manifest("snapshot", i).facts["started_at"] for i in ids)
    return datetime.fromisoformat(moments[0]), datetime.fromisoformat(moments[-1])


def _keep(lake: Lake, ids: Sequence[str], truth: Truth) -> None:
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / truth.recording
    size = write_recording(path, lake, ids)
    save(truth, path.with_suffix(".truth.json"))
    print(f"{path.name}: {len(ids)} snapshots, {size:,} bytes", flush=True)


RUNS = {"demo": demo, "chaos": of_chaos, "twins": of_twins}


def main() -> int:
    """Make them."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus", description=__doc__)
    parser.add_argument("run", nargs="?", choices=[*RUNS], help="default: all")
    # everything is ended as after Ctrl-C
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    run = parser.parse_args().run
    for name in [run] if run else RUNS:
        RUNS[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
