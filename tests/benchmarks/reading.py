"""
`python -m tests.benchmarks.reading`: one snapshot of a cluster with many groups, beside Kafka's command-line tool.

Three local brokers, one topic of ten partitions, groups that committed all of them. A snapshot is timed from the first
connection to the Parquet files, in a process of its own, whose processor time and peak memory are told;
`kafka-consumer-groups --describe --all-groups` is timed as a command, since that is what a user waits for, unless
`--no-tool`. Requests are counted: they grow with brokers and batches, not with groups. Exit status 1 when other rows
are read than were committed, or than the tool sees, or when a target is missed.

`--partitions 100 --no-tool` reads a million commits.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from evenkeel.engine.adapters.kafka import KafkaClusterReader
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.config import ClusterSettings
from evenkeel.engine.model.moments import utc_now
from evenkeel.engine.snapshots import facts_of, new_snapshot_id
from tests.benchmarks.measure import in_own_process, resident, show
from tests.helpers.group_tool import described
from tests.stage.kafka.brokers import KafkaCluster

HEADINGS = ("groups x partitions", "evenkeel s", "CPU s", "peak MiB", "requests", "tool s", "ratio")
GROUPS, PARTITIONS = 10_000, 10
IN_FLIGHT = 200
TOPIC = "measured"
MIB, TIMES = 300.0, 10.0
"""What is asked of a snapshot of 10,000 groups: so much memory, so many times the tool's speed."""
SECONDS = {100_000: 6.0, 1_000_000: 10.0}
"""Up to so many commits, so many seconds."""


def commit(bootstrap: str, partitions: int, first: int, end: int) -> None:
    """Let groups number *first* to before *end* commit every partition of the topic."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 1})
    under_way: list[Future[Any]] = []
    for number in range(first, end):
        offsets = [TopicPartition(TOPIC, p, 1_000 * number + p) for p in range(partitions)]
        asked = admin.alter_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(f"group-{number:05}", offsets)], request_timeout=60
        )
        under_way += asked.values()
        if len(under_way) >= IN_FLIGHT:
            under_way.pop(0).result()
    for one in under_way:
        one.result()


def once(bootstrap: str) -> dict[str, Any]:
    """One snapshot from connect to Parquet: seconds, of these of the processor, peak memory, requests and commits."""
    with tempfile.TemporaryDirectory() as folder:
        lake = FileLake(str(Path(folder) / "lake"))
        settings = ClusterSettings(bootstrap=bootstrap)
        with closing(KafkaClusterReader("measured", settings)) as reader:
            began, worked = perf_counter(), process_time()
            taken = reader.take_snapshot(new_snapshot_id("measured", utc_now()))
            lake.write("snapshot", taken.snapshot_id, taken.tables, facts_of(taken))
            seconds, processor = perf_counter() - began, process_time() - worked
    requests, commits = sum(taken.requests.values()), len(taken.tables["commits"])
    peak = resident("VmHWM")
    return dict(seconds=seconds, processor=processor, peak=peak, requests=requests, commits=commits)


@contextmanager
def cluster(bootstrap: str | None) -> Iterator[str]:
    """The given brokers, or three of our own for a while."""
    if bootstrap is not None:
        yield bootstrap
        return
    with tempfile.TemporaryDirectory() as folder, KafkaCluster(Path(folder) / "brokers") as own:
        yield own.bootstrap


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.reading", description=__doc__)
    parser.add_argument("--groups", type=int, default=GROUPS, metavar="N", help="as many groups")
    parser.add_argument("--partitions", type=int, default=PARTITIONS, metavar="N", help="of each")
    parser.add_argument("--no-tool", action="store_true", help="do not run Kafka's tool")
    parser.add_argument("--bootstrap", metavar="HOST:PORT", help="these brokers; writes to them")
    options = parser.parse_args(arguments)
    faults, rows = list[str](), list[list[str]]()
    with cluster(options.bootstrap) as bootstrap:
        admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 1})
        admin.create_topics([NewTopic(TOPIC, options.partitions, 3)])[TOPIC].result()
        done = 0
        for count in (options.groups // 10, options.groups):
            commit(bootstrap, options.partitions, done, count)
            done = count
            rows.append(_row(bootstrap, count, options.partitions, not options.no_tool, faults))
    title = "One snapshot of all groups, from connect to Parquet, beside Kafka's tool"
    show(title, HEADINGS, rows)
    print(*faults, sep="\n", file=sys.stderr, end="\n" if faults else "")
    return int(bool(faults))


def _row(bootstrap: str, count: int, partitions: int, beside: bool, faults: list[str]) -> list[str]:
    """Measure one size, also *beside* the tool; what is wrong is added to *faults*."""
    readings = [in_own_process("tests.benchmarks.reading:once", bootstrap) for _ in range(3)]
    seconds, processor = (median(r[name] for r in readings) for name in ("seconds", "processor"))
    peak, commits = max(r["peak"] for r in readings), readings[-1]["commits"]
    tool, ratio = "-", "-"
    if commits != count * partitions:
        faults.append(f"{count:,} groups: {commits:,} of {count * partitions:,} commits were read")
    if beside:
        began = perf_counter()
        printed = described(bootstrap, timeout=900)
        took = perf_counter() - began
        tool, ratio = f"{took:.1f}", f"{took / seconds:.1f}"
        if commits != len(printed):
            faults.append(f"{count:,} groups: {commits:,} rows, the tool prints {len(printed):,}")
        if count >= GROUPS and took / seconds < TIMES:
            faults.append(f"{count:,} groups: {ratio} times the tool; asked are {TIMES:g} times")
    asked = next((most for size, most in SECONDS.items() if commits <= size), float("inf"))
    if count >= GROUPS and (seconds > asked or peak > MIB):
        faults.append(
            f"{count:,} groups: {seconds:.1f} s, {peak:.0f} MiB; asked are {asked:g} s, {MIB:g} MiB"
        )
    return [
        f"{count:,} x {partitions}",
        f"{seconds:.2f}",
        f"{processor:.2f}",
        f"{peak:.0f}",
        f"{readings[-1]['requests']:,}",
        tool,
        ratio,
    ]


if __name__ == "__main__":
    sys.exit(main())
