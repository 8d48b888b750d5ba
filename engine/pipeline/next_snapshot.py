"""
Selects the snapshot of a run if snapshots come faster than runs finish.

A run claims the newest waiting snapshot of its cluster, regardless of the one that triggered it. The others are
superseded: the run computes their metrics, but only the newest gets advice. A run without work, or with another active
run, ends immediately, so the backlog is bounded. A manual run uses exactly its own snapshot.
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
"""Prefix of ids of runs that a snapshot triggered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """
    A run and its trigger.

    Attributes:
        snapshot_id: The snapshot that triggered it.
        run_id: Id of the run.
    """

    snapshot_id: str
    run_id: str

    @property
    def by_hand(self) -> bool:
        """Whether it is a manual run."""
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
    Claim and validate the snapshot of a run: the newest waiting one that is not rejected.

    Args:
        lake: The lake.
        history: The claims.
        settings: The configuration.
        turn: The run.
        accepts: Called with each claimed snapshot until it accepts one.

    Returns:
        The last claimed snapshot, None without work; and whether it is accepted.
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
    """Superseded snapshots that this run also validates, newest first."""
    return [one.snapshot_id for one in _behind(history, turn, snapshot_id) if not one.validated]


def unmeasured(history: SnapshotHistory, turn: Turn, snapshot_id: str) -> list[str]:
    """Superseded, accepted snapshots that this run also measures, newest first."""
    return [one.snapshot_id for one in _behind(history, turn, snapshot_id) if one.validated]


def measured_now(lake: Lake, history: SnapshotHistory, turn: Turn, snapshot_id: str) -> list[str]:
    """Superseded snapshots whose metrics are in the lake but not in the history database yet, newest first."""
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
    Process superseded snapshots within a time budget; their failures don't stop the run.

    Args:
        snapshot_ids: The snapshots, most important first.
        work: Called with each snapshot.
        limit: Time after which no further one is started.
        tell: Called with a line about failures and remaining snapshots.
        failures: Exceptions that count as failures, in addition to errors of evenkeel.
    """
    began = time.monotonic()
    for snapshot_id in snapshot_ids:
        if time.monotonic() - began > limit.total_seconds():
            tell("the next run continues with the other superseded snapshots")
            return
        try:
            work(snapshot_id)
        except (EvenkeelError, failures) as problem:
            tell(f"superseded snapshot {snapshot_id}: {one_line(problem)}")


def made_by(settings: Settings, pattern: str = "*") -> dict[str, str]:
    """
    Provenance of the rows of a step: configuration, code and pattern of groups.

    Results with the same provenance are equal, so they can be reused.
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
    Whether the lake has the rows of a step for a snapshot, with the same configuration and code.

    Args:
        step: A key of `snapshots.STEPS` whose manifest has the facts of `made_by`.
        pattern: Shell pattern of the groups.
    """
    try:
        manifest = lake.manifest(step, snapshot_id)
    except SnapshotNotFound:
        return False
    return made_by(settings, pattern).items() <= manifest.facts.items()
