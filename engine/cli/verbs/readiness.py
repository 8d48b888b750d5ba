"""`evenkeel readiness`: which groups can move to the consumer protocol (KIP-848), and in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ..command_end import complain
from ..options import AsJson, Bootstrap, ClusterName, Group, Stored, Wide, epilog, option

if TYPE_CHECKING:
    from ...model.groups import GroupSnapshot
    from ..sources import SnapshotSource

EPILOG = epilog(
    [
        "evenkeel readiness --bootstrap broker1:9092                  # which groups can move, safest first",
        "evenkeel readiness --from cluster.recording --all            # those that moved, and that never do, too",
        "evenkeel readiness --cluster prod --group orders-app         # one group: losses, gains, next step",
    ],
    [0, 1, 2, 3, 4],
    "It only reads. `evenkeel runbook` prints the move of a group and its rollback. Kafka exposes neither the client "
    "library of a member nor its version: set client and client_version in a rule of evenkeel.toml. What the brokers "
    "allow takes DESCRIBE_CONFIGS on the cluster; what a group sets for itself takes it on the group, and Kafka 4.1.",
)


def readiness(
    bootstrap: Bootstrap = None,
    cluster: ClusterName = None,
    stored: Stored = None,
    group: Group = "*",
    every: Annotated[
        bool,
        option("--all", "Also list groups that have moved, and those that don't."),
    ] = False,
    wide: Wide = False,
    as_json: AsJson = False,
) -> None:
    """Show which groups can move to the consumer protocol (KIP-848)."""
    from ...advice.protocol_readiness import of_cluster
    from ...pipeline.readiness import readiness_rows
    from ...records import to_json
    from .. import sources
    from ..views.readiness import show_readiness
    from ..views.tables import emit

    source = sources.open_source(bootstrap, cluster, stored)
    found = groups_of(source, group)
    rows = readiness_rows(source.settings, found)
    if as_json:
        emit(map(to_json, rows))
    else:
        brokers = of_cluster(found[0].coordinator if found else None)
        show_readiness(rows, brokers, every=every, wide=wide)


def groups_of(source: SnapshotSource, pattern: str) -> list[GroupSnapshot]:
    """
    The groups that a name or shell pattern means; what could not be read is told.

    Raises:
        NothingFound: There is none.
    """
    from ...snapshots.groups_with_past import groups_at
    from .. import sources

    wanted = sources.select(source, pattern)
    found = groups_at(source.lake, source.settings, source.newest, wanted, sources.tell_left_out)
    for problem in sources.problems(source):
        complain(f"not read: {problem}")
    return found
