"""`evenkeel snapshot replay`: what a recording holds, or its snapshots as a lake folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from ..command_end import NothingFound, complain
from ..options import AsJson, argument, epilog, option

if TYPE_CHECKING:
    from ...ports import Manifest
    from ..views.tables import Table

EPILOG = epilog(
    [
        "evenkeel snapshot replay cluster.recording              # what is in it",
        "evenkeel snapshot replay cluster.recording --into lake  # as a lake, for Spark and everything else",
        "evenkeel lag --from cluster.recording",
    ],
    [0, 1, 2, 4],
)


def replay(
    file: Annotated[str, argument("FILE", "A recording, or a lake folder.")],
    into: Annotated[
        str | None, option("--into DIR", "Unpack its snapshots into this lake folder.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tell what a recording holds, or unpack it into a lake folder."""
    from ... import wiring
    from ...ports import ALL
    from ...snapshots import SNAPSHOT
    from ..views.tables import emit, show
    from .take import summary

    recording = wiring.recorded(file)
    ids = [i for name in recording.clusters() for i in recording.snapshots(name, limit=ALL)[::-1]]
    if not ids:
        raise NothingFound(f"{file} holds no snapshot.")
    manifests = [recording.manifest("snapshot", snapshot_id) for snapshot_id in ids]
    if into is not None:
        target = wiring.lake(wiring.settings().model_copy(update={"lake": into}))
        for manifest in manifests:
            own = {name: recording.read(name, [manifest.snapshot_id]) for name in SNAPSHOT}
            target.write("snapshot", manifest.snapshot_id, own, manifest.facts)
        complain(f"{len(ids):,} snapshots are now in {into}")
    if as_json:
        emit(summary(manifest) for manifest in manifests)
    else:
        show([contents(manifests)])


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
