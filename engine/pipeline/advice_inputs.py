"""What a snapshot shows of each group, as its advice goes on by it: from metrics and candidates, as far as needed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ..advice.inputs import LiveFigures
from ..metrics.ownership import fingerprint_of
from ..model.arrays import NONE
from ..model.assignments import Candidate, Deployment
from ..ports import Lake
from ..records import CandidateRow, arrow_schema

Read = Callable[[str, Collection[str] | None, Sequence[str]], pa.Table]
"""The columns of a dataset of one snapshot, for some groups or (None) all: of metrics, candidates and groups."""


def of_lake(lake: Lake, snapshot_id: str) -> Read:
    """What is stored of a snapshot."""
    return lambda dataset, groups, columns: lake.read(
        dataset, [snapshot_id], groups=groups, columns=columns
    )


METRICS = (
    *("group_id", "partitions", "unknown_lag_partitions", "production_per_second", "facts"),
    *("diagnosis", "total_lag", "delay_seconds", "assignment"),
)
"""What is looked at of the metrics of a group."""


def metrics_by_group(read: Read) -> dict[str, dict[str, Any]]:
    """Those columns by group, and `utilisation` of its busiest member, of those whose capacity is known."""
    members = read("member_metrics", None, ["group_id", "utilisation"])
    most = (
        members.group_by("group_id", use_threads=False)
        .aggregate([("utilisation", "max")])
        .to_pylist()
    )
    busiest = {row["group_id"]: row["utilisation_max"] for row in most}
    rows = read("group_metrics", None, METRICS).to_pylist()
    return {row["group_id"]: row | {"utilisation": busiest.get(row["group_id"])} for row in rows}


def live_figures(metrics: Mapping[str, Any], candidates: Sequence[Candidate]) -> LiveFigures:
    """A group's figures as they are."""
    live = next((c for c in candidates if c.deployment is Deployment.LIVE), None)
    return LiveFigures(
        lag=metrics.get("total_lag"),
        delay_seconds=metrics.get("delay_seconds"),
        utilisation=metrics.get("utilisation"),
        cross_rack_share=live.score.cross_rack_share if live and live.score else None,
    )


def candidates_of(read: Read, wanted: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The whole candidate of the wanted strategy of each of some groups, with its moves."""
    table = read("candidates", wanted, arrow_schema(CandidateRow).names)
    pairs = zip(*(table[name].to_pylist() for name in ("group_id", "strategy")), strict=True)
    chosen = [row for row, (group, strategy) in enumerate(pairs) if wanted.get(group) == strategy]
    return {row["group_id"]: row for row in table.take(pa.array(chosen, pa.int64())).to_pylist()}


def would_be(read: Read, groups: Collection[str]) -> dict[str, dict[str, str | None]]:
    """Per group and strategy, the fingerprint of what that would give it."""
    if not groups:
        return {}
    identities: dict[str, dict[str, str]] = {group: {} for group in groups}
    for row in read("member_metrics", groups, ["group_id", "member_id", "identity"]).to_pylist():
        identities[row["group_id"]][row["member_id"]] = row["identity"]
    owners: dict[str, _Owners] = {group: {} for group in groups}
    columns = ["group_id", "topic", "partition", "member_id"]
    for row in read("partition_metrics", groups, columns).to_pylist():
        owners[row["group_id"]][row["topic"], row["partition"]] = row["member_id"]
    given: dict[str, dict[str, str | None]] = {group: {} for group in groups}
    columns = ["group_id", "strategy", "moved", "unowned"]
    for row in read("candidates", groups, columns).to_pylist():
        if row["unowned"] is not None:
            group = row["group_id"]
            changed = _changed(identities[group], owners[group], row["moved"] or ())
            given[group][row["strategy"]] = changed
    return given


_Owners = dict[tuple[str, int], str | None]
"""The owner of each partition, by topic and number."""


def _changed(
    identities: Mapping[str, str],
    owners: _Owners,
    moves: Sequence[Mapping[str, Any]],
) -> str | None:
    """The fingerprint of an assignment after some moves."""
    owner = owners | {(move["topic"], move["partition"]): move["to_member"] for move in moves}
    ids = list(identities)
    place = {member: number for number, member in enumerate(ids)}
    rows = sorted(owner)
    topics = sorted({topic for topic, _ in rows})
    of_topic = {topic: number for number, topic in enumerate(topics)}
    return fingerprint_of(
        topics,
        np.array([of_topic[topic] for topic, _ in rows], np.int32),
        np.array([number for _, number in rows], np.int32),
        np.array([place.get(owner[row] or "", NONE) for row in rows], np.int32),
        [identities[member] for member in ids],
    )
