"""
What a report shows of many snapshots in a row: the same walk as `backtest`, and of the newest every strategy.

The plain form: the steps' own functions, nothing stored, nobody told.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from evenkeel.engine.config import Settings
from evenkeel.engine.model import Diagnosis
from evenkeel.engine.ports import ALL, Lake
from evenkeel.engine.records import AdviceRow
from evenkeel.engine.report import FleetReport, GroupReport, SnapshotHealth
from evenkeel.engine.report.values import worst_first
from evenkeel.engine.steps.advise import advice_row, advise_groups
from evenkeel.engine.steps.backtest import AHEAD, Passed, coverage, walk
from evenkeel.engine.steps.candidate_rows import candidate_table
from evenkeel.engine.steps.measured import MeasuredGroup
from evenkeel.engine.steps.propose import propose_anyway
from evenkeel.engine.steps.report_rows import advice_given, member_loads, rack_counts, scores
from evenkeel.engine.steps.report_seen import Followed, standing
from evenkeel.engine.steps.sights import of_tables
from evenkeel.engine.steps.telling import Advised
from evenkeel.engine.steps.validation import rejected_as_a_whole, withheld_groups
from evenkeel.engine.wording import member_names

NOT_KNOWN = (
    "Which steps of the pipeline failed, and what was wrong with it, only the history in Postgres knows (--database).",
)
"""What the history has and a lake has not."""


def report(
    lake: Lake,
    settings: Settings,
    cluster: str,
    made_at: datetime,
    origin: str,
    pattern: str = "*",
    limit: int = ALL,
    tell: Callable[[int], object] = lambda passed: None,
) -> FleetReport:
    """
    Go through the newest snapshots of a cluster once, and say all that there is to show.

    Args:
        lake: Where they are.
        settings: The configuration.
        cluster: Its configured name.
        made_at: What the time is.
        origin: What the report is made from, as a reader is told.
        pattern: Shell pattern of group ids.
        limit: At most so many snapshots.
        tell: Hears after each how many have been gone through.
    """
    passed_by, newest = Followed(), None
    for number, passed in enumerate(walk(lake, settings, cluster, pattern, limit), start=1):
        passed_by.take(passed)
        newest = passed if passed.looked is not None else newest
        if passed.snapshot_id is not None:
            passed_by.health.append(_health(lake, passed.snapshot_id))
            tell(number)
    groups = [] if newest is None else _present(settings, cluster, newest, passed_by)
    present = {group.group_id for group in groups}
    groups += [passed_by.gone(name) for name in passed_by.standings if name not in present]
    return FleetReport(
        cluster=cluster,
        made_at=made_at,
        origin=origin,
        taken_at=tuple(passed_by.taken_at),
        groups=tuple(sorted(groups, key=worst_first)),
        snapshots=tuple(passed_by.health),
        held={ahead: coverage(passed_by.checks, ahead) for ahead in AHEAD},
        not_known=NOT_KNOWN,
        scorecard=passed_by.scorecard,
        withheld=passed_by.distrusted,
    )


def _health(lake: Lake, snapshot_id: str) -> SnapshotHealth:
    manifest = lake.manifest("snapshot", snapshot_id)
    facts = manifest.facts
    began, ended = (datetime.fromisoformat(facts[name]) for name in ("started_at", "finished_at"))
    return SnapshotHealth(
        taken_at=began,
        seconds=(ended - began).total_seconds(),
        groups=manifest.rows.get("groups"),
        problems=len(facts.get("problems", ())),
        withheld=len(withheld_groups(lake, snapshot_id)),
        rejected=rejected_as_a_whole(lake, snapshot_id, "snapshot"),
    )


def _present(settings: Settings, cluster: str, passed: Passed, seen: Followed) -> list[GroupReport]:
    """The groups of the newest snapshot."""
    advised = passed.advised
    if advised is None:
        return []
    proposals = [
        one
        for measured in advised.groups
        for one in propose_anyway(settings, measured, ask_next_change=False, live_only=False)
    ]
    tables = {**advised.tables, "candidates": candidate_table(proposals)}
    advice = {**advised.advice, **_advice(settings, cluster, passed, advised, tables)}
    rows = {name: _by_group(table) for name, table in tables.items()}
    return [
        _group(
            settings.rule(cluster, measured.group.group).owner,
            measured,
            {name: own.get(measured.group.group, []) for name, own in rows.items()},
            advice.get(measured.group.group),
            seen,
        )
        for measured in advised.groups
    ]


def _advice(
    settings: Settings,
    cluster: str,
    passed: Passed,
    advised: Advised,
    tables: Mapping[str, pa.Table],
) -> dict[str, AdviceRow]:
    """
    What groups are advised of which the walk looked at the assignment alone that they have: they stay, and the reason
    takes all strategies.
    """
    if passed.looked is None or passed.snapshot_id is None:
        return {}
    looked_at = Counter(advised.tables["candidates"]["group_id"].to_pylist())
    alone = {
        name for name in (group.group.group for group in advised.groups) if looked_at[name] < 2
    }
    kept = {
        name: table.filter(pc.is_in(table["group_id"], pa.array(sorted(alone), pa.string())))
        for name, table in tables.items()
    }
    courses = {
        name: row.course
        for name, row in advised.advice.items()
        if name in alone and row.course is not None
    }
    at, withheld = passed.looked.at, passed.looked.groups.withheld
    followed = advise_groups(of_tables(kept), settings, cluster, at, courses, withheld)
    rows = (advice_row(each, passed.snapshot_id, cluster, settings) for each in followed)
    return {row.group_id: row for row in rows if row.group_id in alone}


_LEFT_OUT = ("facts", "moved", "commit_ages_seconds", "would_have_moved")


def _by_group(table: pa.Table) -> dict[str, list[dict[str, Any]]]:
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    kept = [name for name in table.schema.names if name not in _LEFT_OUT]
    for row in table.select(kept).to_pylist():
        rows[row["group_id"]].append(row)
    return rows


def _group(
    owner: str | None,
    measured: MeasuredGroup,
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
    advice: AdviceRow | None,
    seen: Followed,
) -> GroupReport:
    group, (metrics,) = measured.group, rows["group_metrics"]
    names = member_names(group.members)
    lags = {(row["topic"], row["partition"]): row["lag"] for row in rows["partition_metrics"]}
    return GroupReport(
        group_id=group.group,
        owner=owner,
        kind=group.type.value,
        state=metrics["state"] or group.state,
        strategy=metrics["assignor"],
        diagnosis=Diagnosis(metrics["diagnosis"] or Diagnosis.UNKNOWN),
        reason=metrics["diagnosis_reason"],
        now=standing(metrics),
        members=metrics["members"],
        partitions=metrics["partitions"],
        error=metrics["error"],
        findings=tuple(metrics["findings"] or ()),
        open_incident=seen.open.get(group.group),
        loads=member_loads(names, rows["member_metrics"], advice.moves if advice else (), lags),
        racks=rack_counts(group),
        strategies=scores(rows["candidates"]),
        advice=advice_given(names, advice),
        **seen.of_group(group.group),
    )
