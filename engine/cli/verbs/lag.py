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
    "> before a TIME LAG: it is at least that, as the commit is older than the oldest snapshot used. --json and --csv "
    "print one object or line per partition. A group without partitions has one line with topic and partition null.",
)


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
    from ..lag_rows import measured
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
