"""What is to be told: ports `Outbox` and `Incidents`. A message is stored as its JSON form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta

from sqlalchemy import Connection, Update, delete, true, update
from sqlalchemy.dialects.postgresql import insert

from ...messages.outbox import entering, keys_of
from ...model.groups import WatchOf
from ...model.message import Announcement
from ...ports import CLOCKS_APART, Delivered, IncidentWatch, PendingAlert, Posting
from ...records import AlertRow, AlertState, IncidentCourse, IncidentRow, record_of, to_json
from ...records.tables import ALERT, INCIDENT_COURSE, INCIDENT_WATCH
from .database import Database
from .statements import execute, jsonb, write

PENDING, SUPERSEDED = AlertState.PENDING, AlertState.SUPERSEDED
_WAITS = ALERT.c.state == PENDING.value


class OutboxTables(Database):
    """The port `Outbox`."""

    def announced_advice(self, cluster: str) -> list[Announcement]:
        rows = self._execute("announced_advice", cluster=cluster)
        return [Announcement.from_json(row, row["at"]) for row in rows]

    def enqueue_alert(
        self, posting: Posting, *, cluster: str, snapshot_id: str | None = None
    ) -> bool:
        with self._transaction() as connection:
            return bool(enqueue(connection, [posting], cluster, snapshot_id=snapshot_id))

    def standing_alert(self, key: str) -> AlertRow | None:
        rows = self._execute("standing_alert", key=key)
        return record_of(AlertRow, rows[0]) if rows else None

    def pending_alerts(self) -> list[PendingAlert]:
        return [record_of(PendingAlert, row) for row in self._execute("pending_alerts")]

    @contextmanager
    def attempt_alert(self, alert: AlertRow, lease: timedelta) -> Iterator[bool]:
        """Hold a lock while it lasts, and note that it was begun."""
        number, seconds = alert.alert_id, lease.total_seconds()
        with self._hold(f"deliver {number}") as holder:
            yield holder.is_ours and bool(
                self._execute("attempt_alert", alert_id=number, lease_seconds=seconds)
            )

    def mark_alert_sent(self, alert: AlertRow, delivered: Delivered) -> None:
        self._execute(
            "mark_alert_sent",
            alert_id=alert.alert_id,
            sent_channel=delivered.channel,
            sent_timestamp=delivered.timestamp,
        )

    def mark_alert_failed(self, alert: AlertRow, error: str, *, refused: bool = False) -> None:
        one = update(ALERT).where(ALERT.c.alert_id == alert.alert_id, _WAITS)
        unsure = ALERT.c.unsure if refused else true()
        self._write(one.values(attempted_at=None, unsure=unsure), {"last_error": error})

    def drop_alerts(self, keys: Sequence[str]) -> None:
        self._write(_dropping(keys))


def enqueue(
    connection: Connection,
    postings: Sequence[Posting],
    cluster: str,
    *,
    snapshot_id: str | None = None,
) -> int:
    """Insert what is not there yet, and supersede what gives way to it; how many rows came."""
    if not postings:
        return 0
    rows = execute(connection, "alerts_about", keys=keys_of(postings))
    entered = entering(postings, [record_of(AlertRow, row) for row in rows])
    write(connection, _dropping(sorted(entered.superseded)))
    once = insert(ALERT).on_conflict_do_nothing(index_elements=("key",)).returning(ALERT.c.alert_id)
    about = {"cluster": cluster, "snapshot_id": snapshot_id}
    return sum(
        len(
            write(
                connection,
                once,
                {
                    **about,
                    "key": posting.key,
                    "kind": posting.message.kind.value,
                    "channel": posting.channel,
                    "message": posting.message.to_json(),
                    "answers": posting.answers,
                    "replaces": posting.replaces,
                    "broadcast": posting.broadcast,
                    "state": (SUPERSEDED if posting.key in entered.superseded else PENDING).value,
                },
            )
        )
        for posting in entered.postings
    )


def _dropping(keys: Sequence[str]) -> Update:
    """Those that wait give way to something newer."""
    waiting = update(ALERT).where(ALERT.c.key.in_(list(keys)), _WAITS)
    return waiting.values(state=SUPERSEDED.value)


class IncidentTables(Database):
    """The port `Incidents`."""

    def incident_watch(self, cluster: str, of: WatchOf = WatchOf.GROUPS) -> IncidentWatch:
        rows = self._execute("incident_watch", cluster=cluster, subject=of.value)
        if not rows:
            return IncidentWatch(cluster=cluster)
        newest = {name: rows[0][name] for name in ("snapshot_id", "at", "first_at")}
        stored = [row["course"] for row in rows if row["course"] is not None]
        courses = tuple(record_of(IncidentCourse, course) for course in stored)
        return IncidentWatch(cluster=cluster, **newest, courses=courses)

    def store_watch(
        self,
        cluster: str,
        snapshot_id: str,
        at: datetime,
        courses: Sequence[IncidentCourse],
        incidents: Sequence[IncidentRow],
        postings: Sequence[Posting],
        *,
        before: str | None,
        of: WatchOf = WatchOf.GROUPS,
    ) -> bool:
        """Move the row of the cluster on, which holds others off; then replace the courses, and merge the rest."""
        with self._transaction() as connection:
            key = {"cluster": cluster, "subject": of.value}
            look = {"snapshot_id": snapshot_id, "at": at, "before": before}
            ahead = CLOCKS_APART.total_seconds()
            if not execute(connection, "move_watch", **key, **look, ahead_seconds=ahead):
                return False
            _replace_courses(connection, cluster, of, courses)
            # incidents by their numbers, then alerts: as all do that lock both, so that nobody waits in a circle
            rows = jsonb([to_json(incident) for incident in incidents])
            execute(connection, "merge_incidents", **key, at=at, incidents=rows)
            enqueue(connection, postings, cluster)
            return True

    def unwatched(self, clusters: Sequence[str]) -> list[str]:
        return [row["cluster"] for row in self._execute("unwatched", clusters=list(clusters))]

    def forget_watch(
        self,
        cluster: str,
        now: datetime,
        postings: Sequence[Posting],
        *,
        before: str | None,
        of: WatchOf = WatchOf.GROUPS,
    ) -> bool:
        """Delete the row of the cluster, which holds others off; then its courses, and end the rest."""
        key = {"cluster": cluster, "subject": of.value}
        with self._transaction() as connection:
            watch = INCIDENT_WATCH.c
            own = watch.cluster == cluster, watch.subject == of.value
            same = *own, watch.snapshot_id == before
            clause = delete(INCIDENT_WATCH).where(*same).returning(watch.cluster)
            forgotten = write(connection, clause)
            if before is not None and not forgotten:
                return False
            _replace_courses(connection, cluster, of, ())
            execute(connection, "merge_incidents", **key, at=now, incidents=jsonb([]))
            enqueue(connection, postings, cluster)
            return True


def _replace_courses(
    connection: Connection, cluster: str, of: WatchOf, courses: Sequence[IncidentCourse]
) -> None:
    """All that is remembered of the groups of a cluster, or of its pipeline."""
    own, key = INCIDENT_COURSE.c, {"cluster": cluster, "subject": of.value}
    old = delete(INCIDENT_COURSE).where(own.cluster == cluster, own.subject == of.value)
    write(connection, old)
    kept = [{**key, "name": each.name, "course": to_json(each)} for each in courses]
    if kept:
        write(connection, insert(INCIDENT_COURSE), kept)
