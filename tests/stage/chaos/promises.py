"""What has to hold once nothing is hurt any more: each promise names what breaks it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

import psycopg
from psycopg.rows import dict_row

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.config import Settings
from evenkeel.engine.model.errors import SnapshotNotFound
from evenkeel.engine.model.states import IncidentState
from evenkeel.engine.pipeline import skipped_groups
from evenkeel.engine.pipeline.evaluate_groups import judge_groups
from evenkeel.engine.ports import Manifest
from evenkeel.engine.ports.lake import ALL
from evenkeel.engine.snapshots import STEPS
from tests.stage.slack_workspace import Json

FINAL = ("advised", "superseded", "rejected")
"""States of a snapshot of which nothing more is to come."""

STANDS_FOR = re.compile(r"(incident .+) (?:opened|(?:worse|still|habit) \d+|resolved)$")
"""Keys of what may be posted for an incident, once in all: afterwards it is changed."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """
    What is looked at.

    Attributes:
        database_url: Of the history.
        lake: The snapshots.
        messages: All that was posted to Slack and not deleted.
        settings: What the DAGs are configured with.
        cluster: Configured name of the cluster.
        until: When the last blow was over: a snapshot from later may still be worked on.
        ended: Parts that should run and do not.
    """

    database_url: str
    lake: FileLake
    messages: list[Json]
    settings: Settings
    cluster: str
    until: datetime
    ended: Callable[[], list[str]]

    def rows(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        """What the history holds."""
        with psycopg.connect(self.database_url, row_factory=dict_row) as connection:
            return connection.execute(statement.encode(), parameters).fetchall()

    def manifests(self) -> Iterator[Manifest]:
        """What the steps say that they have left in the lake."""
        for snapshot_id in self.lake.snapshots(self.cluster, limit=ALL):
            for step in STEPS:
                try:
                    yield self.lake.manifest(step, snapshot_id)
                except SnapshotNotFound:
                    continue


class Check(Protocol):
    """What breaks a promise, a line each; nothing where it is kept."""

    def __call__(self, evidence: Evidence, /) -> Iterator[str]:
        """Look."""


def every_snapshot_has_its_end(evidence: Evidence) -> Iterator[str]:
    """Every snapshot in the lake is advised on, superseded or rejected."""
    rows = evidence.rows("SELECT snapshot_id, started_at, state FROM snapshot_health")
    known = {row["snapshot_id"]: row for row in rows}
    newest = max((r["started_at"] for r in rows if r["state"] == "advised"), default=None)
    if newest is None or newest <= evidence.until:
        yield "no snapshot that was taken afterwards has its advice"
    for snapshot_id in evidence.lake.snapshots(evidence.cluster, limit=ALL):
        row = known.get(snapshot_id)
        if row is None:
            yield f"{snapshot_id} is in the lake and not in the history"
        elif row["started_at"] <= evidence.until and row["state"] not in FINAL:
            yield f"{snapshot_id} is {row['state']}"


def every_snapshot_is_watched(evidence: Evidence) -> Iterator[str]:
    """The groups of every snapshot were looked at for incidents, or those of a newer one were."""
    watched = evidence.rows("SELECT * FROM incident_watch WHERE subject = 'groups'")
    if not watched:
        yield "no snapshot was watched"
    for row in watched:
        if row["at"] <= evidence.until:
            yield f"the newest that was watched is {row['snapshot_id']}"


def no_message_is_doubled(evidence: Evidence) -> Iterator[str]:
    """Nothing was posted twice: a key is once in its channel, and one message at most stands for an incident."""
    counts = Counter((message["channel"], _what(message)) for message in evidence.messages)
    for (channel, key), count in counts.items():
        if count > 1:
            yield f"{count} times in {channel}: {key}"


def no_message_is_lost(evidence: Evidence) -> Iterator[str]:
    """What the history calls sent is in the channel."""
    there = {(message["channel"], message["ts"]) for message in evidence.messages}
    for row in evidence.rows("SELECT * FROM alert WHERE state = 'sent'"):
        if (row["sent_channel"], row["sent_timestamp"]) not in there:
            yield f"{row['key']} is not in {row['sent_channel']}"


def nothing_is_pending(evidence: Evidence) -> Iterator[str]:
    """No alert waits that should have gone out by now."""
    statement = "SELECT key, attempts, last_error FROM alert WHERE state = 'pending' AND created_at <= %(until)s"
    for row in evidence.rows(statement, until=evidence.until):
        yield f"{row['key']} after {row['attempts']} attempts: {row['last_error']}"


def no_incident_of_the_pipeline_is_open(evidence: Evidence) -> Iterator[str]:
    """The pipeline works, so nothing says that it does not."""
    for row in evidence.rows("SELECT * FROM incident WHERE closed_at IS NULL AND group_id IS NULL"):
        yield f"{row['kind']} since {row['opened_at']:%H:%M:%S}"


def open_incidents_of_groups_are_true(evidence: Evidence) -> Iterator[str]:
    """Of no group with an open incident the newest snapshot says that it is well, unless it was the first to."""
    watched = evidence.rows("SELECT snapshot_id FROM incident_watch WHERE subject = 'groups'")
    rows = evidence.rows("SELECT * FROM incident WHERE closed_at IS NULL AND group_id IS NOT NULL")
    courses = evidence.rows("SELECT * FROM incident_course WHERE subject = 'groups'")
    known = {row["name"]: row["course"] for row in courses}
    for look in watched:
        judgment = judge_groups(evidence.lake, evidence.settings, look["snapshot_id"], list(known))
        for row in rows:
            group, course = row["group_id"], known.get(row["group_id"])
            if course is None or course["state"] != IncidentState.OPEN:
                yield f"{group}: {row['kind']} is open, and what is remembered of the group says otherwise"
            elif group not in judgment.odd and not course["well_looks"]:
                yield f"{group}: {row['kind']} is open, and {look['snapshot_id']} shows it well"


def the_lake_holds_what_its_manifests_say(evidence: Evidence) -> Iterator[str]:
    """As many rows of each table as the manifest counts."""
    for manifest in evidence.manifests():
        for dataset, count in manifest.rows.items():
            rows = len(evidence.lake.read(dataset, [manifest.snapshot_id]))
            if rows != count:
                yield f"{manifest.snapshot_id}: {rows} of {count} rows of {dataset}"


def the_history_holds_whole_snapshots(evidence: Evidence) -> Iterator[str]:
    """Metrics and advice are there for all groups of a snapshot that has them, or for none."""
    lake = evidence.lake
    for row in evidence.rows("SELECT * FROM snapshot"):
        snapshot_id = row["snapshot_id"]
        if row["measured_at"]:
            held_back = skipped_groups(lake, snapshot_id, "metrics")
            measured = _groups(lake, "group_metrics", snapshot_id) - set(held_back)
            yield from _differences(evidence, "group_metrics", snapshot_id, measured)
        if row["advised_at"]:
            proposed = _groups(lake, "candidates", snapshot_id)
            yield from _differences(evidence, "advice", snapshot_id, proposed)


def everything_came_back(evidence: Evidence) -> Iterator[str]:
    """All that was killed runs again."""
    yield from evidence.ended()


PROMISES: Mapping[str, Check] = {
    "everything that was killed came back": everything_came_back,
    "every snapshot has its advice, or was superseded or rejected": every_snapshot_has_its_end,
    "every snapshot was watched, or a newer one was": every_snapshot_is_watched,
    "no message came twice": no_message_is_doubled,
    "no message is lost": no_message_is_lost,
    "no alert is pending": nothing_is_pending,
    "no incident of the pipeline is left open": no_incident_of_the_pipeline_is_open,
    "no incident of a group is open that is not true": open_incidents_of_groups_are_true,
    "the lake holds what its manifests say": the_lake_holds_what_its_manifests_say,
    "the history holds whole snapshots": the_history_holds_whole_snapshots,
}


def broken(evidence: Evidence) -> dict[str, list[str]]:
    """Every promise, with what breaks it."""
    return {name: list(_looked(check, evidence)) for name, check in PROMISES.items()}


def _looked(check: Check, evidence: Evidence) -> Iterator[str]:
    try:
        yield from check(evidence)
    except psycopg.Error as problem:
        yield f"the history does not answer: {problem}"


def _what(message: Json) -> str:
    """The incident that a message stands for, else its own key."""
    payload = (message.get("metadata") or {}).get("event_payload") or {}
    key = str(payload.get("key") or message["ts"])
    stands = STANDS_FOR.match(key)
    return stands[1] if stands else key


def _groups(lake: FileLake, dataset: str, snapshot_id: str) -> set[str]:
    return set(lake.read(dataset, [snapshot_id], columns=["group_id"])["group_id"].to_pylist())


def _differences(
    evidence: Evidence, table: str, snapshot_id: str, wanted: set[str]
) -> Iterator[str]:
    statement = f"SELECT group_id FROM {table} WHERE snapshot_id = %(snapshot_id)s"
    stored = {row["group_id"] for row in evidence.rows(statement, snapshot_id=snapshot_id)}
    if stored != wanted:
        yield f"{snapshot_id}: {table} differs in {sorted(stored ^ wanted)}"
