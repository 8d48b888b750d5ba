"""`evenkeel diff`: what changed for a group between two stored snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ...model.errors import InputError
from ...model.text import several
from ..command_end import NothingFound
from ..options import AsJson, ClusterName, Group, epilog, option

if TYPE_CHECKING:
    from ..sources import SnapshotSource

EPILOG = epilog(
    [
        "evenkeel diff --group orders-app --from cluster.recording",
        "evenkeel diff --group orders-app --since 12       # compared with 12 snapshots ago, in the configured lake",
        "evenkeel diff --group orders-app --from lake --cluster prod --json",
    ],
    [0, 1, 2, 4],
    "Members are matched by instance id, or else by client id and host. A changed member id means that the member "
    "restarted or rejoined. Topics are those that the group subscribes to, owns or has committed, within the "
    "configured filter. Facts that a snapshot lacks aren't compared; they are listed below. During a rebalance a "
    "classic group exposes only its members. In JSON, null means none. Broker and topic settings need "
    "DESCRIBE_CONFIGS in both snapshots.",
)


def diff(
    group: Group,
    stored: Annotated[
        str | None,
        option(
            "--from FILE|DIR", "A recording or a lake folder; the default is the configured lake."
        ),
    ] = None,
    cluster: ClusterName = None,
    since: Annotated[
        str,
        option(
            "--since ID|N",
            "Compare the newest snapshot with this one: a snapshot id, or a number of snapshots ago.",
        ),
    ] = "1",
    as_json: AsJson = False,
) -> None:
    """Compare a group between two stored snapshots."""
    from ...snapshots.compare import compare
    from ...snapshots.groups_with_past import taken_at
    from .. import sources
    from ..views import differences
    from ..views.tables import emit

    source = sources.stored_source(stored, cluster)
    earlier = earlier_id(source, since)
    moments = [taken_at(source.lake, one) for one in (earlier, source.newest)]
    ids = {*sources.group_ids(source, earlier), *sources.group_ids(source, source.newest)}

    def tell_of(name: str) -> None:
        difference = compare(source.lake, source.settings, earlier, source.newest, name)
        if as_json:
            key = {"group": name, "cluster": source.cluster, "from": earlier, "to": source.newest}
            emit(key | row for row in differences.rows(difference))
            return
        differences.show_difference(name, source, moments, difference)

    sources.each_of(sources.among(source, group, ids), tell_of, apart=not as_json)


def earlier_id(source: SnapshotSource, since: str) -> str:
    """
    The snapshot that the newest one is compared with.

    Args:
        source: The snapshots.
        since: Its id, or how many snapshots before the newest it is.

    Raises:
        NothingFound: There are not that many snapshots.
        InputError: It is neither a number above 0 nor the id of an earlier snapshot of the cluster.
    """
    from ...snapshots import split_snapshot_id

    if since.isdecimal() and int(since) > 0:
        ids = source.ids(int(since) + 1)
        if len(ids) <= int(since):
            raise NothingFound(
                f"cluster {source.cluster} has {several(len(ids), 'stored snapshot')}, "
                f"none is {int(since):,} before the newest.",
                fix="Take another with `evenkeel snapshot take`."
                if len(ids) == 1
                else f"Use --since {len(ids) - 1} at most.",
            )
        return ids[0]
    if since.removeprefix("-").isdecimal():
        raise InputError(f"--since {since} is no snapshot before the newest.", fix="Use 1 or more.")
    cluster, _ = split_snapshot_id(since)
    if cluster != source.cluster or since not in source.lake.snapshots(cluster, until=since):
        raise InputError(
            f"there is no snapshot {since} of cluster {source.cluster} here.",
            fix="`evenkeel recording show FILE` lists those of a recording or a lake.",
        )
    if since >= source.newest:
        raise InputError(f"{since} is the newest snapshot.", fix="Name an earlier one.")
    return since
