"""The rows of the dataset `members` as values, for those that look at one member at a time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from ..model.groups import Member, MemberTasks

_OF_PARTITIONS = ("assigned_topics", "assigned_partitions", "target_topics", "target_partitions")


def members_of(rows: pa.Table) -> list[Member]:
    """One member per row."""
    plain = rows.drop_columns([*_OF_PARTITIONS]).to_pylist()
    for number in rows["process_id"].is_valid().to_numpy().nonzero()[0].tolist():
        # a thread of Kafka Streams: its tasks stand beside the partitions that it reads
        plain[number] = rows.slice(number, 1).to_pylist()[0]
    return [
        Member(
            id=row["member_id"],
            client_id=row["client_id"] or "",
            host=row["client_host"] or "",
            instance_id=row["instance_id"],
            rack=row["rack"],
            rack_source=row["rack_source"],
            subscription=None if row["subscription"] is None else tuple(row["subscription"]),
            subscription_regex=row["subscription_regex"],
            generation=row["generation"],
            process_id=row["process_id"],
            kind=row["kind"],
            user_data=row["user_data"],
            follows=row["follows"],
            tasks=_tasks(row),
        )
        for row in plain
    ]


def _tasks(row: Mapping[str, Any]) -> MemberTasks | None:
    """A Streams thread's tasks; rows from before a column was added know less."""
    if row["process_id"] is None:
        return None
    of = row["assigned_tasks"] or ()
    pairs = zip(row["assigned_topics"] or (), row["assigned_partitions"] or (), strict=False)
    return MemberTasks(
        active=tuple(row["active_tasks"] or ()),
        standby=tuple(row["standby_tasks"] or ()),
        warmup=tuple(row["warmup_tasks"] or ()),
        reads=tuple((task, *pair) for task, pair in zip(of, pairs, strict=False)),
        offsets=_from_json(row["task_offsets"]),
        ends=_from_json(row["task_end_offsets"]),
        tags=_from_json(row["client_tags"]) or {},
    )


def _from_json(text: str | None) -> Any:
    return None if text is None else json.loads(text)
