"""What has to hold after a run, whatever went wrong in it: each promise names what breaks it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

import psycopg
from psycopg.rows import dict_row

from evenkeel.engine.config import IncidentRules
from evenkeel.engine.model.errors import LakeError
from evenkeel.engine.model.states import Diagnosis
from tests.faults.run import Run
from tests.faults.world import CLUSTER, OTHER, SETTINGS
from tests.stage.chaos import promises as chaos
from tests.stage.slack_workspace import Json

NEAR = timedelta(minutes=5)
"""By so much an incident may begin earlier than without faults: later it may begin where snapshots are missing."""


@dataclass(frozen=True, kw_only=True)
class Kept:
    """
    What is left of a run.

    Attributes:
        incidents: Of groups: (group, kind), and when it began, since the start of the run; in order.
        ills: What was ever wrong with a group: (group, kind).
        open: Groups with an open incident, and its kind.
        advice: Verdict and strategy of the newest advice of each group; its state depends on what was seen when.
        snapshots, advised, messages: How many there are.
        broken: Lines about every promise that was broken, by its name.
    """

    incidents: tuple[tuple[tuple[str, str], timedelta], ...]
    ills: frozenset[tuple[str, str]]
    open: frozenset[tuple[str, str]]
    advice: Mapping[str, tuple[str | None, ...]]
    snapshots: int
    advised: int
    messages: int
    broken: Mapping[str, tuple[str, ...]]


INCIDENTS = """
SELECT group_id, kind, coalesce(began_at, opened_at) AS began_at, opened_at, closed_at, notified_at, alert_key
FROM incident WHERE group_id IS NOT NULL ORDER BY opened_at, group_id
"""
ILLS = """
SELECT group_id, kind FROM incident WHERE group_id IS NOT NULL
UNION
SELECT group_id, diagnosis FROM group_metrics
"""
ADVICE = """
SELECT DISTINCT ON (group_id) group_id, verdict, strategy
FROM advice INNER JOIN snapshot USING (snapshot_id)
-- none from the future, by a clock that was ahead
WHERE snapshot.started_at <= %(until)s
ORDER BY group_id, snapshot.started_at DESC
"""
TWICE = """
SELECT 'advice' AS what, group_id || ' of ' || snapshot_id AS which FROM advice
GROUP BY snapshot_id, group_id HAVING count(*) > 1
UNION ALL
SELECT 'advice event', a.group_id || ' ' || e.strategy || ' ' || e.state || ' at ' || e.at
FROM advice_event AS e INNER JOIN advice AS a USING (advice_id)
GROUP BY a.group_id, e.strategy, e.state, e.at HAVING count(*) > 1
UNION ALL
SELECT 'incident', one.group_id || ' ' || one.kind || ' beside ' || other.kind
FROM incident AS one
INNER JOIN incident AS other
    ON one.group_id = other.group_id AND one.cluster = other.cluster AND one.incident_id < other.incident_id
    AND one.opened_at < coalesce(other.closed_at, 'infinity') AND other.opened_at < coalesce(one.closed_at, 'infinity')
"""


def kept(run: Run, without_faults: Kept | None) -> Kept:
    """
    What is left of a run, and which promises it broke.

    Args:
        run: The run, all faults over.
        without_faults: What is left of the same run without faults; None of that run itself.
    """
    rows = partial(_rows, run.url)
    incidents = rows(INCIDENTS)
    found = Kept(
        incidents=tuple(
            ((row["group_id"], row["kind"]), row["began_at"] - run.plan.start) for row in incidents
        ),
        ills=frozenset((row["group_id"], row["kind"]) for row in rows(ILLS)),
        open=frozenset((r["group_id"], r["kind"]) for r in incidents if r["closed_at"] is None),
        advice={
            row["group_id"]: (row["verdict"], row["strategy"])
            for row in rows(ADVICE, until=run.clock.true)
        },
        snapshots=len(rows("SELECT FROM snapshot")),
        advised=len(rows("SELECT FROM advice")),
        messages=len(run.workspace.messages),
        broken={},
    )
    checks: dict[str, Callable[[], Iterator[str]]] = {
        name: partial(check, run) for name, check in OWN.items()
    }
    checks |= {name: partial(check, evidence_of(run)) for name, check in OF_CHAOS.items()}
    if without_faults is not None:
        checks |= {
            name: partial(check, run, found, without_faults) for name, check in COMPARED.items()
        }
    broken = {name: tuple(check()) for name, check in checks.items()}
    return Kept(**{**vars(found), "broken": {n: lines for n, lines in broken.items() if lines}})


def _rows(url: str, statement: str, **values: Any) -> list[dict[str, Any]]:
    with psycopg.connect(url, row_factory=dict_row) as connection:
        return connection.execute(statement.encode(), values or None).fetchall()


def evidence_of(run: Run) -> chaos.Evidence:
    """What the promises of `tests.stage.chaos` look at."""
    return chaos.Evidence(
        database_url=run.url,
        lake=run.lake,
        messages=run.workspace.messages,
        settings=SETTINGS,
        cluster=CLUSTER,
        until=run.ended,
        ended=list,
    )


OF_CHAOS: Mapping[str, chaos.Check] = {
    name: check
    for name, check in chaos.PROMISES.items()
    if check
    not in (
        chaos.everything_came_back,
        # what was removed by hand is not there
        chaos.the_lake_holds_what_its_manifests_say,
        chaos.the_history_holds_whole_snapshots,
        chaos.every_snapshot_has_its_end,
    )
}


def every_run_took_one_snapshot(run: Run) -> Iterator[str]:
    """A scheduled run left one snapshot in lake and history, or a line that says why there is none."""
    known = {
        row["snapshot_id"]: row["state"] for row in _rows(run.url, "SELECT * FROM snapshot_health")
    }
    ids = run.lake.snapshots(CLUSTER, limit=1_000)
    removed = {line.rpartition("/")[2].partition(".")[0] for line in run.damaged}
    by_run = Counter[str]()
    for snapshot_id in ids:
        try:
            facts = run.lake.manifest("snapshot", snapshot_id).facts
        except LakeError:
            continue
        if facts["kafka_cluster_id"] == OTHER:
            # refused, in a line, by each run that finds it
            continue
        by_run[str(facts["run"])] += 1
        if snapshot_id not in known:
            yield f"{snapshot_id} is in the lake and not in the history"
        elif known[snapshot_id] not in chaos.FINAL and snapshot_id not in removed:
            yield f"{snapshot_id} is {known[snapshot_id]}"
    yield from (f"{name} took {count} snapshots" for name, count in by_run.items() if count > 1)
    told = {number for number, how, line in run.scheduler.taken if how != "ok" and line}
    for number in range(run.plan.count):
        if not by_run[f"scheduled__{number}"] and number not in told and not removed:
            yield f"snapshot {number} is missing, and no line says why"


def nothing_is_there_twice(run: Run) -> Iterator[str]:
    """Advice, its events and incidents are there once."""
    yield from (f"{row['what']}: {row['which']}" for row in _rows(run.url, TWICE))


def every_incident_was_told(run: Run) -> Iterator[str]:
    """What opened is in Slack, as it is by now, unless maintenance kept it quiet."""
    there = {_key(message) for message in run.workspace.messages}
    for row in _rows(run.url, "SELECT * FROM alert WHERE state = 'pending'"):
        yield f"{row['key']} is pending after {row['attempts']} attempts: {row['last_error']}"
    for row in _rows(run.url, "SELECT * FROM incident WHERE notified_at IS NOT NULL"):
        begin = str(row["alert_key"]).rpartition(" opened")[0] or str(row["alert_key"])
        if not any(key.startswith(begin) for key in there):
            yield f"{row['alert_key']} is nowhere in Slack"


def _key(message: Json) -> str:
    payload = (message.get("metadata") or {}).get("event_payload") or {}
    return str(payload.get("key") or message["ts"])


def every_error_is_a_line(run: Run) -> Iterator[str]:
    """Tasks fail with an error of ours, in one line."""
    yield from (crash.strip().splitlines()[-1] for crash in run.scheduler.crashes)
    yield from (line for line in run.scheduler.told if "\n" in line or "Traceback" in line)
    yield from run.tracebacks


OWN: Mapping[str, Callable[[Run], Iterator[str]]] = {
    "each run took one snapshot, or said why not": every_run_took_one_snapshot,
    "advice, events and incidents are there once": nothing_is_there_twice,
    "each incident was told": every_incident_was_told,
    "each fault is told in one line": every_error_is_a_line,
}


def no_incident_is_false(run: Run, found: Kept, should: Kept) -> Iterator[str]:
    """Incidents of groups are of what is wrong without faults, and begin no earlier."""
    late = NEAR + max([timedelta(), *map(abs, run.clocks)])
    first = {group: began for (group, _), began in reversed(should.incidents)}
    unread = sum(f.lasts for f in run.plan.faults if f.how.endswith("cannot be read"))
    for (group, kind), began in found.incidents:
        if kind == Diagnosis.UNKNOWN and unread >= IncidentRules().for_snapshots:
            # that is true, and said after so many snapshots in a row
            continue
        if (group, kind) not in should.ills or group not in first:
            yield f"{group}: {kind}"
        elif began < first[group] - late:
            yield f"{group}: {kind} at {began}, not at {first[group]}"
    counts, expected = (
        Counter(group for (group, _), _ in each.incidents) for each in (found, should)
    )
    yield from (
        f"{n} incidents of {group}" for group, n in counts.items() if n > expected[group] > 0
    )


def no_incident_is_lost(run: Run, found: Kept, should: Kept) -> Iterator[str]:
    """What is open without faults is open; nothing else is."""
    longest = max((fault.lasts for fault in run.plan.faults), default=0)
    for group, kind in sorted(found.open ^ should.open):
        if group == "deleted" and longest >= SETTINGS.lookback:
            # nobody looks back so far as to a snapshot that has it
            continue
        yield f"{group}: {kind} is {'' if (group, kind) in found.open else 'not '}open"


def advice_caught_up(run: Run, found: Kept, should: Kept) -> Iterator[str]:
    """The newest advice on each group is the same."""
    for group in sorted({*found.advice, *should.advice}):
        if found.advice.get(group) != should.advice.get(group):
            yield f"{group}: {found.advice.get(group)}, without faults {should.advice.get(group)}"


COMPARED: Mapping[str, Callable[[Run, Kept, Kept], Iterator[str]]] = {
    "no incident of a group is false": no_incident_is_false,
    "no incident of a group is lost": no_incident_is_lost,
    "advice caught up": advice_caught_up,
}
