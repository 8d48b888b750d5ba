"""
The plain form of metrics, candidates and advice, for the newest snapshot of a source.

Advice is confirmed over several snapshots, so a group for which something pays now is followed through all of them,
from the oldest, as the pipeline would. Of any other group the newest is enough to say that nothing pays; that it may
have been told to switch before, and that this is not withdrawn yet, only the pipeline knows.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from typing import Any

from .. import wiring
from ..advice.past_changes import PastChanges
from ..messages.wording import because, how
from ..model.assignments import Advice, AdviceState, Feasibility
from ..model.groups import GroupSnapshot, Member
from ..pipeline.advice_inputs import of_lake
from ..pipeline.advise import advised, to_be_done
from ..pipeline.measure import compute_metrics, record_metrics
from ..pipeline.membership_changes import past_changes
from ..pipeline.pipeline import run_pipeline
from ..pipeline.propose import propose_candidates, record_candidates
from ..pipeline.whatif import SeenGroup, seen_of
from ..ports import Lake
from ..records import Course
from ..snapshots.groups_with_past import batches_with_past, groups_at
from ..snapshots.walk_lake import WalkedLake
from .sources import SnapshotSource

PLAIN_FORM = "plain form: no Spark, no validation"


@dataclass(frozen=True, kw_only=True)
class JudgedGroup:
    """
    A group: its row of `group_metrics`, its rows of `candidates`, and what it is told.

    *groups* gives the groups of one of the *snapshots*, oldest first, by their ids.
    """

    groups: Callable[[str], Mapping[str, GroupSnapshot]]
    snapshots: Sequence[str]
    metrics: Mapping[str, Any]
    candidates: Sequence[Mapping[str, Any]]
    advice: Advice

    @property
    def members(self) -> Sequence[Member]:
        """Its members now."""
        return self.groups(self.snapshots[-1])[self.advice.group].members

    @cached_property
    def past(self) -> Mapping[str, PastChanges]:
        """What changes of its members would have moved, by strategies that it could run; nothing without a change."""
        runnable = (Feasibility.CAN_RUN, Feasibility.COULD_RUN)
        could = [row["strategy"] for row in self.candidates if row["feasibility"] in runnable]
        seen = (groups.get(self.advice.group) for groups in map(self.groups, self.snapshots))
        return past_changes([group for group in seen if group is not None], could)

    def to_json(self) -> dict[str, Any]:
        """One object: the metrics, the advice with its moves, and every strategy's row."""
        advice = asdict(self.advice)
        moves = advice.pop("moves")
        group = advice.pop("group")
        # the group has a state, too: that of the broker
        advice["advice_state"] = advice.pop("state")
        metrics = {key: value for key, value in self.metrics.items() if key != "group_id"}
        of_group = ("snapshot_id", "cluster", "group_id", "config_version", "position")
        strategies = [
            {key: value for key, value in row.items() if key not in of_group}
            for row in self.candidates
        ]
        return {
            "group": group,
            **metrics,
            **advice,
            "reason": because(self.advice.facts),
            "how": how(self.advice.how),
            "yardstick_reason": because(self.advice.yardstick_facts) or None,
            "facts": [*(self.metrics["facts"] or ()), *advice["facts"], *advice["how"]],
            "moves": moves,
            "strategies": strategies,
            "past_changes": {name: asdict(changes) for name, changes in self.past.items()},
            "form": PLAIN_FORM,
        }


def judge(source: SnapshotSource, pattern: str = "*") -> list[JudgedGroup]:
    """
    Judge the matching groups of the newest snapshot, by group id.

    Args:
        source: Where the groups come from.
        pattern: Shell pattern of group ids.
    """
    settings, newest = source.settings, source.newest
    lake = _measured(source, pattern)
    record_candidates(lake, newest, propose_candidates(lake, settings, newest))
    paying = {one.advice.group for one in advised(lake, settings, newest, {}) if one.course}
    followed = advised(lake, settings, newest, _courses(source, paying))
    read = of_lake(lake, newest)

    @cache
    def groups(snapshot_id: str) -> Mapping[str, GroupSnapshot]:
        found = groups_at(source.lake, settings, snapshot_id, pattern)
        return {group.group: group for group in found}

    metrics = {row["group_id"]: row for row in lake.read("group_metrics", [newest]).to_pylist()}
    candidates: dict[str, list[Mapping[str, Any]]] = {name: [] for name in metrics}
    for row in lake.read("candidates", [newest]).sort_by("position").to_pylist():
        candidates[row["group_id"]].append(row)
    return [
        JudgedGroup(
            groups=groups,
            snapshots=source.ids(settings.lookback + 1),
            metrics=metrics[one.group],
            candidates=candidates[one.group],
            advice=one,
        )
        for one in (each.advice for each in to_be_done(followed, read, AdviceState.PROPOSED))
    ]


def look(source: SnapshotSource, pattern: str = "*") -> list[SeenGroup]:
    """
    The matching groups of the newest snapshot, measured as `judge` measures them, by group id.

    Args:
        source: Where the groups come from.
        pattern: Shell pattern of group ids.
    """
    lake = _measured(source, pattern)
    found = [
        seen
        for groups in batches_with_past(lake, source.settings, source.newest)
        for seen in seen_of(source.settings, groups)
    ]
    return sorted(found, key=lambda seen: seen.group.group)


def _measured(source: SnapshotSource, pattern: str) -> WalkedLake:
    """The matching groups with the metrics of the newest snapshot; what shows only in older ones is in them, too."""
    lake = WalkedLake(source.lake, lambda name: fnmatch.fnmatchcase(name, pattern))

    def measure(lake: Lake, snapshot_id: str) -> None:
        newest = snapshot_id == source.newest
        tables = compute_metrics(lake, source.settings, snapshot_id, every=newest)
        record_metrics(lake, snapshot_id, tables)

    measure(lake, source.newest)
    older = source.ids(source.settings.lookback + 1)[:-1]
    if older and (unknown := _without_interval(lake, source.newest)):
        learning = WalkedLake(source.lake, unknown.__contains__)
        for snapshot_id in older:
            measure(learning, snapshot_id)
        if _without_interval(learning, older[-1]) != unknown:
            lake.write("metrics", older[-1], learning.made("metrics", older[-1]), {})
            measure(lake, source.newest)
    return lake


def _without_interval(lake: Lake, snapshot_id: str) -> set[str]:
    """The groups whose metrics do not know how often they commit."""
    columns = ["group_id", "commit_interval_seconds"]
    rows = lake.read("group_metrics", [snapshot_id], columns=columns).to_pylist()
    return {row["group_id"] for row in rows if row["commit_interval_seconds"] is None}


def _courses(source: SnapshotSource, names: Collection[str]) -> Mapping[str, Course]:
    """How far the advice of some groups had come before the newest snapshot, by the pipeline."""
    if not names:
        return {}
    history = wiring.scratch_history()
    lake = WalkedLake(source.lake, names.__contains__)
    for snapshot_id in source.ids(source.settings.lookback + 1)[:-1]:
        lake.stand(snapshot_id, source.settings.lookback)
        run_pipeline(
            lake,
            history,
            source.settings,
            snapshot_id,
            watching=False,
            sparing=True,
            ask_next_change=False,
        )
    previous = history.previous_advice(source.newest)
    return {one.group_id: one.course for one in previous if one.course is not None}
