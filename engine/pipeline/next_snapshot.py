"""
Which snapshot a run advises on, when snapshots come faster than they are worked on.

A run takes up the newest snapshot of its cluster that waits, whichever started it; the others are superseded: they get
their metrics from the same run, advice only the newest gets. A run that finds nothing to do, or another at it, ends at
once, so the backlog never grows without end. Who runs a snapshot by hand gets that one, and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from ..config import Settings
from ..model.environment import this_environment
from ..model.errors import EvenkeelError, SnapshotNotFound
from ..model.text import one_line
from ..ports import Lake, LeftBehind, SnapshotHistory
from ..snapshots import split_snapshot_id
from .snapshot import REPEATING, note_missed

AUTOMATIC = "asset_triggered__"
"""How the id of a run begins that a snapshot started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """
    A run, and what started it.

    Attributes:
        snapshot_id: The snapshot it was started with.
        run_id: Its id.
    """

    snapshot_id: str
    run_id: str

    @property
    def by_hand(self) -> bool:
        """Whether a person started it, or a program of the user's."""
        return not self.run_id.startswith((AUTOMATIC, REPEATING))

    @property
    def again(self) -> str | None:
        """The snapshot it repeats, if it does."""
        return self.snapshot_id if self.run_id.startswith(REPEATING) else None


class Accepts(Protocol):
    """Validates a snapshot: whether it is accepted as a whole."""

    def __call__(self, snapshot_id: str, /) -> bool:
        """Validate it."""


def take_turn(
    lake: Lake, history: SnapshotHistory, settings: Settings, turn: Turn, accepts: Accepts
) -> tuple[str | None, bool]:
    """
    Take up what a run is to advise on, and validate it: the newest that waits and is not rejected.

    Args:
        lake: Where snapshots are.
        history: Where it is noted who works on what.
        settings: The configuration.
        turn: The run.
        accepts: Called with each snapshot that is taken up, until it accepts one.

    Returns:
        The snapshot taken up last, None when there is nothing to do; and whether it is accepted.
    """
    cluster, _ = split_snapshot_id(turn.snapshot_id)
    if history.missing_snapshots([turn.snapshot_id]):
        lake.manifest("snapshot", turn.snapshot_id)
        note_missed(lake, history, settings, cluster)
    if turn.by_hand:
        history.take_up_by_hand(turn.snapshot_id, turn.run_id)
        return turn.snapshot_id, accepts(turn.snapshot_id)
    passed: list[str] = []
    while (
        found := history.take_up(cluster, turn.run_id, passed=passed, again=turn.again)
    ) is not None:
        if accepts(found):
            return found, True
        passed.append(found)
    return (passed[-1], False) if passed else (None, False)


def unvalidated(history: SnapshotHistory, turn: Turn, snapshot_id: str) -> list[str]:
    """Overtaken snapshots that this run validates on the way, newest first."""
    return [one.snapshot_id for one in _behind(history, turn, snapshot_id) if not one.validated]


def unmeasured(history: SnapshotHistory, turn: Turn, snapshot_id: str) -> list[str]:
    """Overtaken, accepted snapshots that this run measures on the way, newest first."""
    return [one.snapshot_id for one in _behind(history, turn, snapshot_id) if one.validated]


def measured_now(lake: Lake, history: SnapshotHistory, turn: Turn, snapshot_id: str) -> list[str]:
    """Overtaken snapshots whose metrics are in the lake and not yet in the history, newest first."""
    measured: list[str] = []
    for one in unmeasured(history, turn, snapshot_id):
        with suppress(SnapshotNotFound):
            lake.manifest("metrics", one)
            measured.append(one)
    return measured


def _behind(history: SnapshotHistory, turn: Turn, snapshot_id: str) -> Sequence[LeftBehind]:
    return () if turn.by_hand else history.left_behind(snapshot_id)


def on_the_way(
    snapshot_ids: Iterable[str],
    work: Callable[[str], object],
    limit: timedelta,
    tell: Callable[[str], object],
    failures: type[Exception],
) -> None:
    """
    Work on superseded snapshots while there is time; what fails of them holds nobody up.

    Args:
        snapshot_ids: Which, the most wanted first.
        work: What is to be done with each.
        limit: After so long none is begun.
        tell: Hears in a line what failed, and that some are left.
        failures: What may be raised, beside errors of ours.
    """
    began = time.monotonic()
    for snapshot_id in snapshot_ids:
        if time.monotonic() - began > limit.total_seconds():
            tell("the other superseded snapshots are left to the next run")
            return
        try:
            work(snapshot_id)
        except (EvenkeelError, failures) as problem:
            tell(f"superseded snapshot {snapshot_id}: {one_line(problem)}")


def made_by(settings: Settings, pattern: str = "*") -> dict[str, str]:
    """
    Facts for a step's manifest: the configuration and the code that made its rows, and for which groups.

    Metrics and candidates follow from stored snapshots and these, so what was made by the same need not be made again.
    """
    return {
        "config_version": settings.version,
        "source": this_environment().source,
        "groups": pattern,
    }


def is_made(
    lake: Lake, settings: Settings, step: str, snapshot_id: str, pattern: str = "*"
) -> bool:
    """
    Whether the lake has the rows of a step for a snapshot, made by this configuration and this code.

    Args:
        step: A key of `snapshots.STEPS` whose manifest has the facts of `made_by`.
        pattern: Shell pattern of the groups that are asked for.
    """
    try:
        manifest = lake.manifest(step, snapshot_id)
    except SnapshotNotFound:
        return False
    return dict(manifest.facts) == made_by(settings, pattern)
