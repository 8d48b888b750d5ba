"""
Local mode (no Spark, no validation): metrics, candidates and advice for the newest snapshot of a source.

Advice is confirmed over several snapshots, so a group that a switch would help now is followed through all of them,
from the oldest, as the pipeline would. Of any other group the newest is enough to see that none would help; that it may
have been advised to switch before, and that this is not withdrawn yet, only the pipeline knows.
"""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from .. import wiring
from ..advice.past_changes import PastChanges
from ..advice.scoring import Moves
from ..config import Settings
from ..messages.wording import because, how
from ..model.assignments import ABLE, Advice, AdviceState, Deployment
from ..model.facts import Fact
from ..model.groups import GroupSnapshot, Member
from ..model.logs import logger
from ..pipeline.advise import advised, of_lake, to_be_done
from ..pipeline.candidate_rows import candidate_table
from ..pipeline.measure import compute_metrics, observed_of, record_metrics
from ..pipeline.membership_changes import past_changes
from ..pipeline.pipeline import run_pipeline
from ..pipeline.propose import proposals_of, record_candidates
from ..pipeline.whatif import SeenGroup, seen_of
from ..ports import Lake
from ..records import Course, record_of
from ..snapshots import split_snapshot_id
from ..snapshots.chunks import chunks_of, in_halves
from ..snapshots.groups_with_past import (
    Lookback,
    groups_at,
    left_out,
    lookback_ids,
    lookback_of,
    of_each,
    read_with_past,
)
from ..snapshots.learned import Learned
from ..snapshots.validation import skipped_groups
from ..snapshots.walk_lake import WalkedLake
from .sources import SnapshotSource, tell_left_out

_log = logger(__name__)

REMEMBERED = 4
"""How many times `lookback` a run without stored metrics looks back for how often a group commits."""

LOCAL_RUN = "local run: not validated, not stored"

WITH_FORECASTS = f"{LOCAL_RUN}, forecasts not corrected by earlier ones"


@dataclass(frozen=True, kw_only=True)
class JudgedGroup:
    """
    A group: its row of `group_metrics`, its rows of `candidates` with their moves, its advice, and where its snapshots
    are.
    """

    groups: _Groups
    metrics: Mapping[str, Any]
    candidates: Sequence[Mapping[str, Any]]
    moves: Mapping[str, Moves]
    advice: Advice

    @property
    def members(self) -> Sequence[Member]:
        """Its members now; none where it cannot be worked on."""
        return self.groups.now(self.advice.group)

    @cached_property
    def past(self) -> Mapping[str, PastChanges]:
        """What changes of its members would have moved, by available strategies; nothing without a change."""
        could = [row["strategy"] for row in self.candidates if row["feasibility"] in ABLE]
        try:
            return past_changes(self.groups.history(self.advice.group), could)
        except Exception as problem:  # noqa: BLE001 one group costs the others nothing
            left_out(self.advice.group, problem)
            return {}

    @cached_property
    def found(self) -> Sequence[Fact]:
        """What was found of the group and of its assignment."""
        live = [row["facts"] for row in self.candidates if row["deployment"] == Deployment.LIVE]
        every = [self.metrics["facts"], *live]
        return [record_of(Fact, fact) for facts in every for fact in facts or ()]

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
            {
                **{key: value for key, value in row.items() if key not in of_group},
                "moved": [asdict(move) for move in self.moves.get(row["strategy"], ())],
            }
            for row in self.candidates
        ]
        return {
            "group": group,
            **metrics,
            **advice,
            "reason": because(self.advice.facts),
            "how": how(self.advice.how),
            "best_undeployable_reason": because(self.advice.best_undeployable_facts) or None,
            "facts": [*(self.metrics["facts"] or ()), *advice["facts"], *advice["how"]],
            "moves": moves,
            "strategies": strategies,
            "past_changes": {name: asdict(changes) for name, changes in self.past.items()},
            "form": LOCAL_RUN,
        }


def judge(source: SnapshotSource, pattern: str = "*") -> list[JudgedGroup]:
    """
    Evaluate the matching groups of the newest snapshot, by group id.

    Args:
        source: Where the groups come from.
        pattern: Shell pattern of group ids.
    """
    settings, newest = source.settings, source.newest
    lake = _measured(source, pattern)
    withheld = skipped_groups(lake, newest)
    proposals = [
        one
        for chunk in chunks_of(lake, newest)
        for one in proposals_of(lake, settings, newest, chunk.groups, withheld)
    ]
    record_candidates(lake, newest, {"candidates": candidate_table(proposals)})
    paying = {one.advice.group for one in advised(lake, settings, newest, {}) if one.course}
    followed = advised(lake, settings, newest, _courses(source, lake, paying))
    read = of_lake(lake, newest)
    groups = _Groups(source, lake)
    metrics = {row["group_id"]: row for row in lake.read("group_metrics", [newest]).to_pylist()}
    candidates: dict[str, list[Mapping[str, Any]]] = {name: [] for name in metrics}
    moves: dict[str, dict[str, Moves]] = {name: {} for name in metrics}
    for each in proposals:
        if each.moves is not None:
            moves[each.keys["group_id"]][each.candidate.strategy] = each.moves
    for row in lake.read("candidates", [newest]).sorted_by("position").to_pylist():
        candidates[row["group_id"]].append(row)
    return [
        JudgedGroup(
            groups=groups,
            metrics=metrics[one.group],
            candidates=candidates[one.group],
            moves=moves[one.group],
            advice=one,
        )
        for one in (
            each.advice
            for each in to_be_done(followed, read, lambda _: moves, AdviceState.PROPOSED)
        )
    ]


def look(source: SnapshotSource, pattern: str = "*") -> list[SeenGroup]:
    """
    The matching groups of the newest snapshot, measured as `judge` measures them, by group id.

    Args:
        source: Where the groups come from.
        pattern: Shell pattern of group ids.
    """
    lake = _measured(source, pattern)
    lookback = lookback_of(lake, source.settings, source.newest)

    def work(names: Sequence[str]) -> list[SeenGroup]:
        return seen_of(source.settings, read_with_past(lake, source.settings, lookback, names))

    found = of_each(lake, source.newest, work, tell=tell_left_out)
    return sorted(found, key=lambda seen: seen.group.group)


def _measured(source: SnapshotSource, pattern: str) -> WalkedLake:
    """The matching groups with the metrics of the newest snapshot; what shows only in older ones is in them, too."""
    settings, newest = source.settings, source.newest
    lake = WalkedLake(source.lake, lambda name: fnmatch.fnmatchcase(name, pattern))
    record_metrics(lake, newest, compute_metrics(lake, settings, newest, every=True))
    columns = ["group_id", "commit_interval_seconds", "error"]
    rows = lake.read("group_metrics", [newest], columns=columns).to_pylist()
    unknown = {
        row["group_id"]
        for row in rows
        if row["commit_interval_seconds"] is None and row["error"] is None
    }
    learned: dict[str, Learned] = {}
    for chunk in chunks_of(lake, newest) if unknown else ():
        learned |= _learned(lake, settings, newest, [one for one in chunk.groups if one in unknown])
    if learned:
        lake.learn(lookback_ids(lake, settings, newest)[1], learned)
        record_metrics(lake, newest, compute_metrics(lake, settings, newest, every=True))
    return lake


def _learned(
    lake: Lake, settings: Settings, newest: str, names: Sequence[str]
) -> dict[str, Learned]:
    """How often some groups commit, as the pipeline would remember it from the snapshots before."""
    learned: dict[str, Learned] = {}
    # each looks back itself, so half as far apart they show all that happened
    apart, (cluster, _) = max(settings.lookback // 2, 1), split_snapshot_id(newest)
    ids = lake.snapshots(cluster, until=newest, limit=REMEMBERED * settings.lookback + 1)
    for snapshot_id in ids[1::apart]:
        if not names:
            break
        seen = _intervals(lake, settings, lookback_of(lake, settings, snapshot_id), names)
        names = [name for name, seconds in seen.items() if math.isnan(seconds)]
        learned |= {
            name: Learned(commit_interval=seconds)
            for name, seconds in seen.items()
            if not math.isnan(seconds)
        }
    return learned


def _intervals(
    lake: Lake, settings: Settings, lookback: Lookback, names: Sequence[str]
) -> dict[str, float]:
    """
    Seconds between the commits of some groups at a snapshot, nan where they do not show.

    Of a group that is not there, cannot be trusted or cannot be worked on, nothing is remembered, as in the pipeline.
    """

    def observe(some: Sequence[str]) -> dict[str, float]:
        groups = read_with_past(lake, settings, lookback, some, whole=False)
        intervals = observed_of(settings, groups).commit_interval.tolist()
        return {
            header.group: seconds
            for header, seconds in zip(groups.batch.headers, intervals, strict=True)
            if header.error is None and header.group not in groups.withheld
        }

    def unknown(name: str, problem: Exception) -> dict[str, float]:
        _log.exception("group %s cannot be measured in %s", name, lookback.ids[0])
        return {}

    parts = in_halves(names, observe, unknown)
    return {name: seconds for part in parts for name, seconds in part.items()}


def _courses(
    source: SnapshotSource, measured: WalkedLake, names: Collection[str]
) -> Mapping[str, Course]:
    """How far the advice of some groups had come before the newest snapshot, by the pipeline."""
    if not names:
        return {}
    history = wiring.scratch_history()
    lake = WalkedLake(source.lake, names.__contains__)
    # of a single group the past was read when the newest snapshot was measured
    lake.batches |= measured.batches
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


class _Groups:
    """The matching groups of the snapshots that are evaluated, read when they are asked for."""

    def __init__(self, source: SnapshotSource, lake: WalkedLake) -> None:
        self._source, self._lake = source, lake
        self._read: dict[str, dict[str, GroupSnapshot]] = {}

    def at(self, snapshot_id: str) -> Mapping[str, GroupSnapshot]:
        """Those of a snapshot, by their ids."""
        if snapshot_id not in self._read:
            found = groups_at(self._lake, self._source.settings, snapshot_id)
            self._read[snapshot_id] = {group.group: group for group in found}
        return self._read[snapshot_id]

    @cached_property
    def _changed(self) -> set[str]:
        """The groups that had other members in one of the snapshots that list them than in another."""
        ids = self._source.ids(self._source.settings.lookback + 1)
        columns = ["group_id", "snapshot_id"]
        members: dict[str, dict[str, set[str]]] = {}
        for row in self._lake.read("groups", ids, columns=columns).to_pylist():
            members.setdefault(row["group_id"], {})[row["snapshot_id"]] = set()
        for row in self._lake.read("members", ids, columns=[*columns, "member_id"]).to_pylist():
            # a snapshot that does not list the group does not show it, whatever else it has
            if row["snapshot_id"] in (seen := members.get(row["group_id"], {})):
                seen[row["snapshot_id"]].add(row["member_id"])
        return {
            name for name, seen in members.items() if len(set(map(frozenset, seen.values()))) > 1
        }

    def history(self, name: str) -> Sequence[GroupSnapshot]:
        """One in all of them, oldest first; the newest alone where its members never changed."""
        ids = self._source.ids(self._source.settings.lookback + 1)
        of_interest = ids if name in self._changed else ids[-1:]
        return [own[name] for own in map(self.at, of_interest) if name in own]

    def now(self, name: str) -> Sequence[Member]:
        """The members of one in the newest."""
        group = self.at(self._source.newest).get(name)
        return group.members if group else ()
