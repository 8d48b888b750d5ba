"""
Runs `compute_metrics` and `propose_candidates`: chunks of groups, each written to the lake before the next.

If both are needed, a chunk is read once: its candidates are made of the metrics that are still in memory. Spark spreads
the chunks of a large snapshot over workers. A small snapshot takes less time in this process.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import dropwhile

from ..config import Settings
from ..model.batch import GroupBatch
from ..model.errors import EvenkeelError
from ..model.tables import Table
from ..ports import Lake, WrittenPart
from ..snapshots.chunks import CHUNK, cut, work_of
from ..snapshots.groups_with_past import lookback_of, read_batch, rows_of_others
from ..snapshots.validation import skipped_groups
from .measure import measure_chunk
from .next_snapshot import is_made, made_by, on_the_way
from .propose import propose_chunk
from .stored_metrics import MeasuredGroup, measured_of

Work = Callable[[Sequence[str]], Iterator[tuple[str, Mapping[str, Table]]]]
"""The rows of some groups: steps, each with its tables by dataset."""

Written = Mapping[str, WrittenPart]
"""The parts of a chunk, by step."""


@dataclass(frozen=True)
class Write:
    """Computes a chunk, writes its parts to the lake and returns them; picklable if *work* is."""

    lake: Lake
    snapshot_id: str
    work: Work
    run: str = field(default_factory=lambda: secrets.token_hex(4))

    def __call__(self, number: int, groups: Sequence[str]) -> Written:
        """The parts of some groups."""
        return {step: self.part(step, number, tables) for step, tables in self.work(groups)}

    def part(self, step: str, number: int, tables: Mapping[str, Table]) -> WrittenPart:
        """Write some rows."""
        return self.lake.write_part(step, self.snapshot_id, self.run, number, tables)


Spread = Callable[[Mapping[str, int], Write], list[Written]]
"""Writes all chunks of groups, whose work it is given."""

Steps = tuple[str, ...]
"""Steps that are made in one pass: a key of `WORK`."""

Compute = Callable[[Steps, str, str], object]
"""Makes some steps of a snapshot and a shell pattern of groups."""

ALSO = timedelta(minutes=3)
"""Time budget for superseded snapshots."""


def metrics_work(
    lake: Lake, settings: Settings, snapshot_id: str, *, then_candidates: bool = False
) -> Work:
    """
    The function of `compute_metrics` for a chunk, or of both steps.

    Raises:
        SnapshotNotFound: The lake doesn't have the snapshot.
    """
    lookback = lookback_of(lake, settings, snapshot_id)
    withheld = lookback.withheld

    def work(names: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Table]]]:
        read = list[GroupBatch]()
        tables = measure_chunk(
            lake, settings, lookback, names, see=lambda groups, _: read.append(groups.batch)
        )
        yield "metrics", tables
        if not then_candidates:
            return

        def measured(some: Sequence[str]) -> list[MeasuredGroup]:
            own = [each for each in read if [one.group for one in each.headers] == [*some]]
            [batch] = own or [read_batch(lake, settings, snapshot_id, some)]
            return measured_of(batch, tables, withheld)

        candidates = propose_chunk(lake, settings, snapshot_id, names, withheld, measured=measured)
        yield "candidates", candidates

    return work


def candidates_work(lake: Lake, settings: Settings, snapshot_id: str) -> Work:
    """
    The function of `propose_candidates` for a chunk.

    Raises:
        SnapshotNotFound: The lake doesn't have the metrics of the snapshot.
    """
    lake.manifest("metrics", snapshot_id)  # before any work
    withheld = dict(skipped_groups(lake, snapshot_id))

    def work(names: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Table]]]:
        yield "candidates", propose_chunk(lake, settings, snapshot_id, names, withheld)

    return work


METRICS: Steps = ("metrics",)
CANDIDATES: Steps = ("candidates",)
BOTH: Steps = METRICS + CANDIDATES
"""Both steps in order, by the names of their results in the lake."""

WORK: Mapping[Steps, Callable[[Lake, Settings, str], Work]] = {
    METRICS: metrics_work,
    CANDIDATES: candidates_work,
    BOTH: partial(metrics_work, then_candidates=True),
}
"""What can be made in one pass."""


def size_of(lake: Lake, snapshot_id: str, pattern: str = "*") -> int:
    """
    The partitions and members of the groups of a snapshot, which decide whether Spark computes it.

    Raises:
        SnapshotNotFound: The lake doesn't have the snapshot.
    """
    return sum(work_of(lake, snapshot_id, pattern).values())


def compute(
    lake: Lake,
    settings: Settings,
    snapshot_id: str,
    pattern: str,
    also: Iterable[str],
    started: AbstractContextManager[Compute],
    tell: Callable[[str], object],
    failures: type[Exception] = EvenkeelError,
) -> None:
    """
    Write metrics and candidates of a snapshot to the lake, unless they exist.

    Results with the same configuration and code are reused: only candidates are made if the metrics exist. A run that
    ends before both are complete leaves files that no reader sees, and a retry makes both.

    Args:
        lake: The lake.
        settings: The configuration.
        snapshot_id: Id of the snapshot.
        pattern: Shell pattern of group ids.
        also: Superseded snapshots that also get metrics of all groups, if possible.
        started: Opened if there is work, for as long as it takes.
        tell: Called with a line about each step.
        failures: Exceptions of superseded snapshots that don't stop the run, in addition to errors of evenkeel.

    Raises:
        SnapshotNotFound: The lake doesn't have the snapshot.
    """
    lake.manifest("snapshot", snapshot_id)  # before anything starts

    def exists(step: str) -> bool:
        made = is_made(lake, settings, step, snapshot_id, pattern)
        if made:
            tell(f"{step} of {snapshot_id} are in the lake, with the same configuration")
        return made

    # what follows from rows that are made anew is made anew
    left = tuple(dropwhile(exists, BOTH))
    behind = [other for other in also if not is_made(lake, settings, "metrics", other)]
    if not left and not behind:
        return
    with started as run:

        def timed(steps: Steps, one: str, groups: str) -> None:
            since = time.monotonic()
            run(steps, one, groups)
            tell(f"{' and '.join(steps)} of {one}: {time.monotonic() - since:.1f} s")

        if left:
            timed(left, snapshot_id, pattern)
        on_the_way(behind, lambda other: timed(METRICS, other, "*"), ALSO, tell, failures)


@contextmanager
def in_this_process(lake: Lake, settings: Settings) -> Iterator[Compute]:
    """Runs steps without Spark, with equal results."""

    def one_by_one(sizes: Mapping[str, int], write: Write) -> list[Written]:
        return [write(chunk.number, chunk.groups) for chunk in cut(sizes, CHUNK)]

    def run(steps: Steps, snapshot_id: str, pattern: str) -> None:
        run_steps(lake, settings, steps, snapshot_id, pattern, one_by_one, "evenkeel")

    yield run


def run_steps(
    lake: Lake,
    settings: Settings,
    steps: Steps,
    snapshot_id: str,
    pattern: str,
    spread: Spread,
    computed_by: str,
) -> None:
    """
    Compute the groups of a snapshot and write the tables of a step, or of both, to the lake.

    Args:
        lake: The lake.
        settings: The configuration.
        steps: A key of `WORK`.
        snapshot_id: Id of the snapshot.
        pattern: Shell pattern of group ids; rows of other groups are kept.
        spread: Cuts the groups into chunks and writes each.
        computed_by: `spark` or `evenkeel`; stored in the manifest beside the provenance of the rows.

    Raises:
        SnapshotNotFound: The lake doesn't have the snapshot, or the metrics that the step needs.
        EvenkeelError: An error that is not limited to a group.
    """
    write = Write(lake, snapshot_id, WORK[steps](lake, settings, snapshot_id))
    written = spread(work_of(lake, snapshot_id, pattern), write)
    facts = made_by(settings, pattern) | {"computed_by": computed_by}
    for step in steps:
        parts = [each[step] for each in written]
        if pattern != "*":
            others = rows_of_others(lake, snapshot_id, step, pattern)
            parts.append(write.part(step, len(parts), others))
        lake.finish(step, snapshot_id, write.run, parts, facts)
