"""`evenkeel recording show`: the snapshots of a recording."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from ..command_end import NothingFound
from ..options import AsJson, argument, epilog

if TYPE_CHECKING:
    from ...ports import Lake, Manifest
    from ..views.tables import Table

EPILOG = epilog(
    [
        "evenkeel recording show cluster.recording",
        "evenkeel recording show .evenkeel/lake --json    # a lake folder has the same form",
        "evenkeel lag --from cluster.recording            # other commands read the file directly",
    ],
    [0, 1, 2, 4],
)


def show(
    file: Annotated[str, argument("FILE", "A recording, or a lake folder.")],
    as_json: AsJson = False,
) -> None:
    """List the snapshots of a recording."""
    from ... import wiring
    from ..views.tables import emit
    from ..views.tables import show as show_tables
    from .take import summary

    manifests = manifests_of(wiring.recorded(file), file)
    if as_json:
        emit(summary(manifest) for manifest in manifests)
    else:
        show_tables([contents(manifests)])


def manifests_of(recording: Lake, file: str) -> list[Manifest]:
    """
    The manifests of a recording's snapshots, by cluster, oldest first.

    Raises:
        NothingFound: It has no snapshot.
    """
    from ...ports import ALL

    ids = [i for name in recording.clusters() for i in recording.snapshots(name, limit=ALL)[::-1]]
    if not ids:
        raise NothingFound(f"{file} holds no snapshot.")
    return [recording.manifest("snapshot", snapshot_id) for snapshot_id in ids]


def contents(manifests: Sequence[Manifest]) -> Table:
    """What was recorded, one line per snapshot."""
    from ...model.columns import columns_of
    from ...records import RecordedSnapshot, row_of
    from ..views.columns import table
    from .take import seconds

    counted = ("groups", "members", "partitions", "brokers")
    rows = [
        RecordedSnapshot(
            snapshot_id=manifest.snapshot_id,
            **{name: manifest.rows.get(name) for name in counted},
            duration_seconds=seconds(manifest),
            problem_count=len(manifest.facts.get("problems", ())),
        )
        for manifest in manifests
    ]
    return table(columns_of(RecordedSnapshot), map(row_of, rows))
