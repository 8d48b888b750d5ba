"""One reading of a cluster: its tables, how it is named, and what its manifest says of it."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ..model.cluster_snapshot import ClusterSnapshot
from ..model.errors import InputError
from ..model.facts import Fact
from ..model.moments import check_aware, utc_now
from ..model.tables import Table
from ..ports import LakeFile, Manifest
from ..records import record_of, to_json
from .schemas import SCHEMA_VERSION

_SNAPSHOT_ID = re.compile(r"([a-z0-9][a-z0-9_-]{0,39})-(\d{8}T\d{6}Z)-([0-9a-f]{6})")
_SECOND = "%Y%m%dT%H%M%SZ"


def new_snapshot_id(cluster: str, moment: datetime) -> str:
    """
    `<cluster>-<YYYYmmddTHHMMSSZ>-<6 hex>`: ids of one cluster sort by time.

    Args:
        cluster: The configured slug.
        moment: When the reading starts, aware.
    """
    check_aware(moment, "moment")
    return f"{cluster}-{moment.astimezone(UTC):{_SECOND}}-{secrets.token_hex(3)}"


def split_snapshot_id(snapshot_id: str) -> tuple[str, datetime]:
    """
    The cluster and the second (aware, UTC) a snapshot id was made of.

    >>> split_snapshot_id("eu-west-20260102T030405Z-0a1b2c")
    ('eu-west', datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc))

    Raises:
        InputError: It is not a snapshot id.
    """
    match = _SNAPSHOT_ID.fullmatch(snapshot_id)
    try:
        if match:
            return match[1], datetime.fromisoformat(match[2])
    except ValueError:
        pass
    raise InputError(
        f"{snapshot_id!r} is not a snapshot id.",
        fix="Use <cluster>-<YYYYmmddTHHMMSSZ>-<6 hex digits>, as `evenkeel snapshot take` prints it.",
    )


def facts_of(snapshot: ClusterSnapshot) -> dict[str, Any]:
    """What the manifest of a snapshot says of how it was taken, JSON-able; `take_snapshot` adds both in words."""
    return {
        "kafka_cluster_id": snapshot.kafka_cluster_id,
        "started_at": snapshot.started_at.isoformat(),
        "finished_at": snapshot.finished_at.isoformat(),
        "unread": [to_json(each) for each in snapshot.problems],
        "noted": [to_json(each) for each in snapshot.notes],
        "requests": dict(snapshot.requests),
        "bytes_sent": snapshot.bytes_sent,
        "bytes_received": snapshot.bytes_received,
    }


def problems_of(facts: Mapping[str, Any]) -> tuple[Fact, ...]:
    """What could not be read, by a manifest."""
    return tuple(record_of(Fact, each) for each in facts.get("unread", ()))


def snapshot_of(
    snapshot_id: str, facts: Mapping[str, Any], tables: Mapping[str, Table]
) -> ClusterSnapshot:
    """The reading a manifest and its tables describe; the inverse of `facts_of`."""
    return ClusterSnapshot(
        snapshot_id=snapshot_id,
        cluster=split_snapshot_id(snapshot_id)[0],
        kafka_cluster_id=facts.get("kafka_cluster_id"),
        started_at=datetime.fromisoformat(facts["started_at"]),
        finished_at=datetime.fromisoformat(facts["finished_at"]),
        tables=tables,
        problems=problems_of(facts),
        notes=tuple(record_of(Fact, each) for each in facts.get("noted", ())),
        requests=dict(facts.get("requests", {})),
        bytes_sent=facts.get("bytes_sent"),
        bytes_received=facts.get("bytes_received"),
    )


def new_manifest(
    step: str,
    snapshot_id: str,
    rows: Mapping[str, int],
    facts: Mapping[str, Any],
    files: Mapping[str, Sequence[LakeFile]] | None = None,
) -> Manifest:
    """What a step leaves of a snapshot, as of now: rows by dataset, what it says of them, and its files."""
    return Manifest(
        snapshot_id=snapshot_id,
        cluster=split_snapshot_id(snapshot_id)[0],
        step=step,
        schema_version=SCHEMA_VERSION,
        written_at=utc_now(),
        rows=rows,
        facts=facts,
        files=files,
    )
