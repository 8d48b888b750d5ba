"""`evenkeel lag`: every partition of every group, how far behind it is, and who owns it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from ..command_end import NothingFound, complain
from ..options import (
    AsCsv,
    AsJson,
    Bootstrap,
    ClusterName,
    Every,
    Group,
    Raw,
    Samples,
    Stored,
    Wide,
    epilog,
    one_format,
    option,
)

if TYPE_CHECKING:
    from ..sources import SnapshotSource

EPILOG = epilog(
    [
        "evenkeel lag --bootstrap broker1:9092",
        "evenkeel lag --bootstrap broker1:9092 --group 'orders-*' --json",
        "evenkeel lag --cluster prod                    # a cluster of evenkeel.toml",
        "evenkeel lag --from cluster.recording --group orders-app",
    ],
    [0, 1, 2, 3, 4],
    "evenkeel counts lag as Kafka's own tool does. Lag is unknown if the end offset is unknown, or if the group has "
    "committed nothing and evenkeel.toml has no auto_offset_reset for it. Column lag_basis says which case applies. "
    "--json and --csv print one object or line per partition. A group without partitions has one line with topic and "
    "partition null.",
)

_JSON = {
    "group_id": "group",
    "topic": "topic",
    "partition": "partition",
    "begin_offset": "begin",
    "end_offset": "end",
    "committed_offset": "committed",
    "lag": "lag",
    "member_id": "member",
}
_AS_THEY_ARE = (
    "lag_basis",
    "lost_records",
    "subscribed",
    "status",
    "cross_rack",
    "production_per_second",
    "consumption_per_second",
    "time_lag_seconds",
    "time_lag_basis",
    "topic_id",
    "committed_at",
    "end_at",
    "snapshot_id",
    "cluster",
)
_OF_GROUP = {"state": "state", "group_type": "type", "protocol_type": "protocol_type"}
_OF_MEMBER = {
    "client_id": "client_id",
    "client_host": "host",
    "instance_id": "instance_id",
    "rack": "rack",
}


def lag(
    bootstrap: Bootstrap = None,
    cluster: ClusterName = None,
    stored: Stored = None,
    group: Group = "*",
    every: Annotated[
        bool, option("--all", "Also list healthy groups, and every partition.")
    ] = False,
    samples: Samples = 1,
    interval: Every = 5,
    wide: Wide = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    raw: Raw = False,
) -> None:
    """Show the lag of every partition and its owner."""
    from .. import sources
    from ..views.lag import show_lags
    from ..views.tables import emit, emit_csv

    one_format(as_json, as_csv)
    source = sources.open_source(
        bootstrap, cluster, stored, samples=samples, every=interval if samples > 1 else 0
    )
    groups, rows = measured(source, sources.select(source, group))
    if as_json or as_csv:
        emit(rows) if as_json else emit_csv(rows, raw=raw)
    else:
        show_lags(source, groups, rows, overview=group == "*", every=every, wide=wide)
    tell_unreadable(source, groups)
    if not rows:
        raise NothingFound(f"no partition to show of {len(groups):,} matching groups.")


def measured(
    source: SnapshotSource, pattern: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """
    The rows of `group_metrics`, and one row per partition as `--json` prints it, sorted.

    A group that was read and has no partition is one row, of which topic, partition and all that is of a partition is
    None.

    Args:
        source: Where the groups come from.
        pattern: Shell pattern of group ids.
    """
    from ...pipeline.measure import compute_metrics

    metrics = compute_metrics(source.lake, source.settings, source.newest, pattern)
    stored = {name: source.lake.read(name, [source.newest]) for name in ("groups", "members")}
    heads = {row["group_id"]: row for row in stored["groups"].to_pylist()}
    members = {(row["group_id"], row["member_id"]): row for row in stored["members"].to_pylist()}
    rows = [
        partition_row(
            row, heads[row["group_id"]], members.get((row["group_id"], row["member_id"]), {})
        )
        for row in metrics["partition_metrics"].to_pylist()
    ]
    groups = sorted(metrics["group_metrics"].to_pylist(), key=lambda row: str(row["group_id"]))
    seen = {row["group"] for row in rows}
    read = [row["group_id"] for row in groups if not row["error"]]
    nothing = dict.fromkeys([*_JSON, *_AS_THEY_ARE])
    for name in read:
        if name not in seen:
            known = {
                column: heads[name][column] for column in ("group_id", "snapshot_id", "cluster")
            }
            rows.append(partition_row(nothing | known, heads[name], {}))
    rows.sort(key=lambda row: (row["group"], row["topic"] or "", row["partition"] or 0))
    return groups, rows


def partition_row(
    row: Mapping[str, Any], head: Mapping[str, Any], member: Mapping[str, Any]
) -> dict[str, Any]:
    """A row of `partition_metrics`, its group's row of `groups` and its owner's of `members` as one object."""
    return {
        **{name: row[column] for column, name in _JSON.items()},
        **{name: member.get(column) for column, name in _OF_MEMBER.items()},
        **{column: row[column] for column in _AS_THEY_ARE},
        **{name: head[column] for column, name in _OF_GROUP.items()},
    }


def tell_unreadable(source: SnapshotSource, groups: Sequence[Mapping[str, Any]]) -> None:
    """Say on standard error what is missing from the answer, and why."""
    from ..sources import problems

    lines = [
        f"group {row['group_id']} could not be read: {row['error']}"
        for row in groups
        if row["error"]
    ]
    if lines:
        lines.append(f"{len(lines):,} of {len(groups):,} groups could not be read")
    for line in [*lines, *(f"not read: {problem}" for problem in problems(source))]:
        complain(line)
