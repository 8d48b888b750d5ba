"""The step `propose_candidates`: simulates every strategy for every group, one row each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..advice import blocked
from ..advice.scoring import Moves, moves
from ..assignors import every
from ..config import Settings
from ..model.facts import Fact, reason
from ..model.logs import logger
from ..model.tables import Table, concat, empty
from ..ports import Lake
from ..records import keys_of
from ..snapshots import CANDIDATES
from ..snapshots.chunks import CHUNK, chunks_of, cut, in_halves, work_of
from ..snapshots.groups_with_past import known_by_name, with_others
from ..snapshots.validation import skipped_groups
from .candidate_rows import Proposal, candidate_table, proposal
from .propose_tasks import task_rows
from .replay import never, replay_group
from .stored_metrics import NOT_MEASURED, MeasuredGroup, measured_chunk

_log = logger(__name__)


def propose_candidates(
    lake: Lake,
    settings: Settings,
    snapshot_id: str,
    pattern: str = "*",
    *,
    live_only: Collection[str] = (),
    ask_next_change: bool = True,
) -> dict[str, Table]:
    """
    The candidates of a snapshot in local mode: the table of `snapshots.CANDIDATES`.

    Args:
        lake: The lake with the snapshot and its metrics.
        settings: The configuration.
        snapshot_id: The snapshot.
        pattern: Shell pattern of group ids.
        live_only: Groups for which only the current assignment is scored.
        ask_next_change: As for `propose_group`.

    Raises:
        SnapshotNotFound: The lake doesn't have the snapshot or its metrics.
    """
    withheld = skipped_groups(lake, snapshot_id)
    tables = [
        propose_chunk(
            lake,
            settings,
            snapshot_id,
            chunk.groups,
            withheld,
            live_only=live_only,
            ask_next_change=ask_next_change,
        )
        for chunk in chunks_of(lake, snapshot_id, pattern)
    ]
    none = empty(CANDIDATES["candidates"])
    return {"candidates": concat([none, *(each["candidates"] for each in tables)])}


def propose_chunk(
    lake: Lake,
    settings: Settings,
    snapshot_id: str,
    names: Sequence[str],
    withheld: Mapping[str, str],
    *,
    live_only: Collection[str] = (),
    ask_next_change: bool = True,
) -> dict[str, Table]:
    """
    The candidates of some groups from the lake, in the order of *names*.

    Args:
        withheld, live_only, ask_next_change: As for `proposals_of`.

    Raises:
        SnapshotNotFound, LakeError: As for `proposals_of`.
    """
    proposals = proposals_of(
        lake,
        settings,
        snapshot_id,
        names,
        withheld,
        live_only=live_only,
        ask_next_change=ask_next_change,
    )
    return {"candidates": candidate_table(proposals)}


def proposals_of(
    lake: Lake,
    settings: Settings,
    snapshot_id: str,
    names: Sequence[str],
    withheld: Mapping[str, str],
    *,
    live_only: Collection[str] = (),
    ask_next_change: bool = True,
    only: Mapping[str, Collection[str]] | None = None,
) -> list[Proposal]:
    """
    The candidates of some groups from the lake with their moves, in the order of *names*.

    If a group fails, its strategies have the error as reason; other groups are not affected.

    Args:
        withheld: Reasons of groups that were skipped by validation, by group id.
        live_only, ask_next_change: As for `propose_candidates`.
        only: Names of the strategies of each group; None for all.

    Raises:
        SnapshotNotFound: The lake doesn't have the snapshot or its metrics.
        LakeError: The metrics don't belong to the snapshot.
    """

    def measured(some: Sequence[str]) -> list[MeasuredGroup]:
        return measured_chunk(lake, settings, snapshot_id, some, withheld)

    def unread(name: str, problem: Exception) -> list[MeasuredGroup]:
        _log.exception("group %s cannot be read", name)
        group = known_by_name(lake, snapshot_id, name)
        return [MeasuredGroup(group=group, measured=None, withheld=_failed(problem))]

    return [
        one
        for part in in_halves(names, measured, unread)
        for group in part
        for one in propose_anyway(
            settings,
            group,
            live_only=group.group.group in live_only,
            ask_next_change=ask_next_change,
            only=None if only is None else only[group.group.group],
        )
    ]


def moves_of(
    lake: Lake, settings: Settings, snapshot_id: str, wanted: Mapping[str, Collection[str]]
) -> dict[str, dict[str, Moves]]:
    """
    What strategies move, simulated again: the dataset `candidates` has only the number of moves.

    Args:
        lake: The lake with the snapshot and its metrics.
        settings: The configuration.
        snapshot_id: The snapshot.
        wanted: Names of strategies by group id.

    Returns:
        By group id and strategy; nothing of a strategy without a result.

    Raises:
        SnapshotNotFound, LakeError: As for `proposals_of`.
    """
    found: dict[str, dict[str, Moves]] = {name: {} for name in wanted}
    if not wanted:
        return found
    withheld = skipped_groups(lake, snapshot_id)
    work = {name: own for name, own in work_of(lake, snapshot_id).items() if name in wanted}
    for chunk in cut(work, CHUNK):
        for one in proposals_of(
            lake,
            settings,
            snapshot_id,
            chunk.groups,
            withheld,
            ask_next_change=False,
            only=wanted,
        ):
            group, strategy = one.row.group_id, one.row.strategy
            if one.moves is not None and strategy in wanted[group]:
                found[group][strategy] = one.moves
    return found


def propose_anyway(settings: Settings, measured_group: MeasuredGroup, **how: Any) -> list[Proposal]:
    """As `propose_group`; if it fails, every strategy has the error as reason."""
    try:
        return propose_group(settings, measured_group, **how)
    except Exception as problem:  # noqa: BLE001
        _log.exception("group %s cannot be simulated", measured_group.group.group)
        why = _failed(problem)
        return propose_group(settings, replace(measured_group, measured=None, withheld=why))


def _failed(problem: Exception) -> Fact:
    return reason("replay_failed", quote=f"{type(problem).__name__}: {problem}")


def record_candidates(
    lake: Lake, snapshot_id: str, tables: Mapping[str, Table], pattern: str = "*"
) -> None:
    """
    Store candidates in the lake; valid ones go to the history database later (`record_validation`).

    Candidates of a pattern of groups replace only rows of these groups.
    """
    lake.write(
        "candidates", snapshot_id, with_others(lake, snapshot_id, "candidates", tables, pattern), {}
    )


def propose_group(
    settings: Settings,
    measured_group: MeasuredGroup,
    *,
    ask_next_change: bool = True,
    live_only: bool = False,
    only: Collection[str] | None = None,
    named: str | None = None,
) -> list[Proposal]:
    """
    One candidate per strategy, in the order of the strategy table.

    Args:
        settings: The configuration.
        measured_group: The group and its metrics; if validation skipped it, every strategy has that reason.
        ask_next_change: Whether to simulate membership changes, a third of the work.
        live_only: Whether to score only the current assignment.
        only: Names of the strategies of a group of consumers; None for all.
        named: A strategy that is included even if it is not by default.
    """
    group, measured = measured_group.group, measured_group.measured
    keys = keys_of(group, settings.version)
    why = measured_group.withheld or blocked(group)
    if why is not None or measured is None:
        return [
            proposal(keys, position, never(group, strategy, why or NOT_MEASURED), None)
            for position, strategy in enumerate(every().values())
        ]
    if group.places_tasks:
        return list(task_rows(settings, group, measured, ask_next_change=ask_next_change))
    replayed = replay_group(
        settings,
        measured_group,
        ask_next_change=ask_next_change,
        live_only=live_only,
        only=only,
        named=named,
    )
    return [
        proposal(
            keys,
            position,
            candidate,
            moves(replayed.spec, candidate.assignment) if candidate.assignment else None,
        )
        for position, candidate in enumerate(replayed.candidates)
    ]
