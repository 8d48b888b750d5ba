"""What evenkeel says of the recordings, beside the truth: agreement is counted, the rest is shown as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from evenkeel.engine.adapters.recording import Recording, open_recording
from evenkeel.engine.config import Rule, Settings
from evenkeel.engine.model.groups import GroupSnapshot
from evenkeel.engine.snapshots import SNAPSHOT, groups_of
from tests.corpus.truth import FOLDER, load
from tests.helpers.measuring import metric_rows

HEALTHY = "healthy"
SOUND = (HEALTHY, "catching up")
"""What is said of a group that nothing is wrong with; of its backlog the truth says nothing."""

LATE_SECONDS = 10.0
"""The SLO of twins, as `tests.twins` has it: they live for minutes."""

Rows = Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]]
"""Metric rows by group and dataset."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """A recording, and the truth beside it."""

    truth: Mapping[str, Any]
    recording: Recording

    @property
    def name(self) -> str:
        """Its file."""
        return str(self.truth["recording"])

    def taken_at(self, snapshot_id: str) -> datetime:
        """When a snapshot was begun."""
        facts = self.recording.manifest("snapshot", snapshot_id).facts
        return datetime.fromisoformat(facts["started_at"])

    @property
    def moments(self) -> list[str]:
        """The snapshots that are compared: the last one, and of twins the last before any of them switches."""
        ids = self.recording.snapshot_ids
        switches = [datetime.fromisoformat(pair["switch_at"]) for pair in self.truth["pairs"]]
        before = [i for i in ids if switches and self.taken_at(i) < min(switches)]
        return [*before[-1:], ids[-1]]

    @property
    def missing(self) -> list[str]:
        """Members of the truth that have not come back by the last snapshot."""
        there = self.recording.read("members", self.recording.snapshot_ids[-1:])
        clients = tuple(map(str, there["client_id"].to_pylist()))
        known = [m["client_id"] for group in self.truth["groups"] for m in group["members"]]
        return [one for one in known if not any(each.startswith(one) for each in clients)]

    @property
    def rules(self) -> Settings:
        """What a user would configure, as Kafka does not tell it."""
        own = {"lag_slo_seconds": LATE_SECONDS} if self.truth["pairs"] else {}
        return Settings(
            rules=tuple(
                Rule(
                    groups=group["group"],
                    auto_offset_reset=group["auto_offset_reset"],
                    commit_interval_seconds=group["commit_seconds"],
                    **own,
                )
                for group in self.truth["groups"]
            )
        )

    def rows(self, snapshot_id: str, *every: Settings) -> list[Rows]:
        """What evenkeel measures at a snapshot by each of these settings."""
        ids = self.recording.snapshot_ids
        newest = ids.index(snapshot_id)
        series: dict[str, list[GroupSnapshot]] = {}
        for each in ids[max(newest - Settings().lookback, 0) : newest + 1][::-1]:
            tables = {name: self.recording.read(name, [each]) for name in SNAPSHOT}
            for group in groups_of(tables, self.taken_at(each)):
                series.setdefault(group.group, []).append(group)
        return [
            {name: metric_rows(settings, one, past) for name, (one, *past) in series.items()}
            for settings in every
        ]


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A group at a moment: what is wrong with it by the truth, and by evenkeel without and with rules."""

    run: str
    at: datetime
    group: str
    truth: str
    plain: str
    ruled: str

    def agrees(self, diagnosis: str) -> bool:
        """Whether it is what the truth says."""
        return self.truth == diagnosis or (self.truth == HEALTHY and diagnosis in SOUND)


@dataclass(frozen=True, kw_only=True)
class Speed:
    """A member that was seen at its limit: records/s that it can do, least and most, and evenkeel's capacity of it."""

    run: str
    member: str
    least: float
    most: float
    capacity: float

    @property
    def error(self) -> float:
        """By which share of it the capacity is beyond what it can do."""
        return max(self.least / self.capacity - 1, self.capacity / self.most - 1, 0.0)


@cache
def runs() -> tuple[Run, ...]:
    """All that is in the corpus."""
    files = sorted(FOLDER.glob("*.evenkeel"))
    return tuple(
        Run(truth=load(each.with_suffix(".truth.json")), recording=open_recording(each))
        for each in files
    )


def wrong_at(group: Mapping[str, Any], at: datetime) -> str:
    """What is wrong with a group at a moment, by the truth."""
    for each in group["troubles"]:
        until = each["until"] and datetime.fromisoformat(each["until"])
        if datetime.fromisoformat(each["at"]) <= at and (until is None or at < until):
            return str(each["what"])
    return HEALTHY


@cache
def compared() -> tuple[tuple[Compared, ...], tuple[Speed, ...]]:
    """All groups of all runs, and all members seen at their limit."""
    groups, speeds = list[Compared](), list[Speed]()
    for run in runs():
        for snapshot_id in run.moments:
            at = run.taken_at(snapshot_id)
            found = run.rows(snapshot_id, Settings(), run.rules)
            for group in run.truth["groups"]:
                name = group["group"]
                plain, ruled = (rows[name]["group_metrics"][0]["diagnosis"] for rows in found)
                groups.append(
                    Compared(
                        run=run.name,
                        at=at,
                        group=name,
                        truth=wrong_at(group, at),
                        plain=plain,
                        ruled=ruled,
                    )
                )
                speeds += _speeds(run.name, group, found[-1][name]["member_metrics"])
    return tuple(groups), tuple(speeds)


def _speeds(
    run: str, group: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]
) -> Iterator[Speed]:
    can = {each["client_id"]: each for each in group["members"]}
    for row in rows:
        known = can.get(row["client_id"])
        if known is None or not known["records_per_second"] or row["capacity_basis"] != "saturated":
            continue
        most = known["records_per_second"]
        yield Speed(
            run=run,
            member=row["client_id"],
            least=most * (1 - known["slowed_share"] * (len(can) - 1)),
            most=most,
            capacity=row["capacity_per_second"],
        )


def section() -> str:
    """What the page has of it."""
    groups, speeds = compared()
    plain, ruled = (
        sum(each.agrees(getattr(each, name)) for each in groups) for name in ("plain", "ruled")
    )
    errors = [(run.name, [s.error for s in speeds if s.run == run.name]) for run in runs()]
    lines = [
        f"evenkeel's diagnosis is that of the truth in {plain} of {len(groups)} cases without a configuration, "
        f"and in {ruled} with rules: `auto_offset_reset` and `commit_interval_seconds` from the truth, and "
        f"`lag_slo_seconds = {LATE_SECONDS:g}` for `twins`. The last snapshot of each recording counts, and of "
        "`twins` also the last one before the first switch. The other cases:",
        "",
        "| recording | at (UTC) | group | truth | without rules | with rules |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {e.run} | {e.at:%H:%M:%S} | {e.group} | {e.truth} | {e.plain} | {e.ruled} |"
        for e in groups
        if not (e.agrees(e.plain) and e.agrees(e.ruled))
    ]
    lines += [
        "",
        "With rules, evenkeel knows the capacity of members that it saw at their limit. It differs from the real speed "
        "by at most:",
        "",
        *(
            f"- `{run}`: {100 * max(each):.1f}% (members: {len(each)})"
            for run, each in errors
            if each
        ),
        "",
        "Members that never returned after a fault, which the truth does not know:",
        "",
        *(f"- `{run.name}`: {', '.join(run.missing)}" for run in runs() if run.missing),
    ]
    return "\n".join(lines) + "\n"


def files() -> str:
    """The files, as they are."""
    lines = [
        "| file | bytes | snapshots | minutes | groups |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for run in runs():
        ids = run.recording.snapshot_ids
        minutes = (run.taken_at(ids[-1]) - run.taken_at(ids[0])).total_seconds() / 60
        size = (FOLDER / run.name).stat().st_size
        cells = (run.name, f"{size:,}", len(ids), f"{minutes:.0f}", len(run.truth["groups"]))
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def example() -> str:
    """The programs that read a recording without evenkeel."""
    python, query = ((FOLDER / name).read_text() for name in ("lag.py", "lag.sql"))
    return f"```python\n{python}```\n\n```sql\n{query}```\n"
