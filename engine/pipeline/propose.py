"""The step `propose_candidates`: simulates every strategy for every group, one row each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
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
from .asked_group import AskedGroup, never
from .candidate_rows import Proposal, candidate_table
from .propose_tasks import task_rows
from .replay import Replayed, replay_groups
from .stored_metrics import NOT_MEASURED, MeasuredGroup, measured_chunk

_log = logger(__name__)

Measured = Callable[[Sequence[str]], list[MeasuredGroup]]
"""Gives groups with their metrics, by their ids."""


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
    measured: Measured | None = None,
) -> dict[str, Table]:
    """
    The candidates of some groups from the lake, in the order of *names*.

    Args:
        withheld, live_only, ask_next_change, measured: As for `proposals_of`.

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
        measured=measured,
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
    measured: Measured | None = None,
) -> list[Proposal]:
    """
    The candidates of some groups from the lake with their moves, in the order of *names*.

    If a group fails, its strategies have the error as reason; other groups are not affected.

    Args:
        withheld: Reasons of groups that were skipped by validation, by group id.
        live_only, ask_next_change: As for `propose_candidates`.
        only: Names of the strategies of each group; None for all.
        measured: Gives some of the groups with their metrics; None to read them from the lake.

    Raises:
        SnapshotNotFound: The lake doesn't have the snapshot or its metrics.
        LakeError: The metrics don't belong to the snapshot.
    """

    def stored(some: Sequence[str]) -> list[MeasuredGroup]:
        return measured_chunk(lake, settings, snapshot_id, some, withheld)

    def unread(name: str, problem: Exception) -> list[MeasuredGroup]:
        _log.exception("group %s cannot be read", name)
        group = known_by_name(lake, snapshot_id, name)
        return [MeasuredGroup(group=group, measured=None, withheld=_failed(problem))]

    def how(group: MeasuredGroup) -> How:
        name = group.group.group
        return How(
            ask_next_change=ask_next_change,
            live_only=name in live_only,
            only=None if only is None else only[name],
        )

    found = chain(*in_halves(names, measured or stored, unread))
    groups = [(group, how(group)) for group in found]
    return [one for proposals in propose_anyway(settings, groups) for one in proposals]


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
            group, strategy = one.keys["group_id"], one.candidate.strategy
            if one.moves is not None and strategy in wanted[group]:
                found[group][strategy] = one.moves
    return found


def propose_anyway(
    settings: Settings, groups: Sequence[tuple[MeasuredGroup, How]]
) -> list[list[Proposal]]:
    """As `propose_groups`; every strategy of a group that fails has the error as reason."""
    try:
        return propose_groups(settings, groups)
    except Exception as problem:  # noqa: BLE001
        if len(groups) > 1:
            _log.warning("%s groups are simulated one by one", len(groups), exc_info=True)
            return [propose_anyway(settings, [one])[0] for one in groups]
        [(group, how)] = groups
        _log.exception("group %s cannot be simulated", group.group.group)
        failed = replace(group, measured=None, withheld=_failed(problem))
        return propose_groups(settings, [(failed, how)])


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


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """
    How strategies are simulated for a group.

    Attributes:
        ask_next_change: Whether to simulate membership changes, a third of the work.
        live_only: Whether to score only the current assignment.
        only: Names of the strategies of a group of consumers; None for all.
        named: A strategy that is included even if it is not by default.
    """

    ask_next_change: bool = True
    live_only: bool = False
    only: Collection[str] | None = None
    named: str | None = None


def propose_group(settings: Settings, measured_group: MeasuredGroup, **how: Any) -> list[Proposal]:
    """
    One candidate per strategy, in the order of the strategy table.

    Args:
        settings: The configuration.
        measured_group: The group and its metrics; if validation skipped it, every strategy has that reason.
        how: As for `How`.
    """
    return propose_groups(settings, [(measured_group, How(**how))])[0]


def propose_groups(
    settings: Settings, groups: Sequence[tuple[MeasuredGroup, How]]
) -> list[list[Proposal]]:
    """As `propose_group`, for many groups."""
    blocks = [_blocked(group) for group, _ in groups]
    asked = {
        number: AskedGroup(
            settings=settings,
            measured_group=group,
            live_only=how.live_only,
            only=how.only,
            named=how.named,
        )
        for number, (group, how) in enumerate(groups)
        if blocks[number] is None and not group.group.places_tasks
    }
    replayed = dict[int, Replayed]()
    for ask_next_change in (True, False):
        some = [n for n in asked if groups[n][1].ask_next_change is ask_next_change]
        found = replay_groups([asked[n] for n in some], ask_next_change=ask_next_change)
        replayed.update(zip(some, found, strict=True))
    version = settings.version
    return [
        _proposals(settings, keys_of(group.group, version), group, how, why, replayed.get(number))
        for number, ((group, how), why) in enumerate(zip(groups, blocks, strict=True))
    ]


def _blocked(group: MeasuredGroup) -> Fact | None:
    """Why nothing can be simulated for a group."""
    why = group.withheld or blocked(group.group)
    return why or (NOT_MEASURED if group.measured is None else None)


def _proposals(
    settings: Settings,
    keys: Mapping[str, str],
    group: MeasuredGroup,
    how: How,
    why: Fact | None,
    replayed: Replayed | None,
) -> list[Proposal]:
    """The candidates of a group; *why* nothing can be simulated for it, or what was, unless it places tasks."""
    if why is not None:
        none = [never(group.group, strategy, why) for strategy in every().values()]
        return [
            Proposal(keys=keys, position=position, candidate=candidate, changed=None)
            for position, candidate in enumerate(none)
        ]
    if replayed is None:
        assert group.measured is not None, "it is not blocked"
        asks = how.ask_next_change
        return list(task_rows(settings, group.group, group.measured, ask_next_change=asks))
    return [
        Proposal(
            keys=keys,
            position=position,
            candidate=candidate,
            changed=partial(moves, replayed.spec, candidate.assignment)
            if candidate.assignment
            else None,
        )
        for position, candidate in enumerate(replayed.candidates)
    ]
