"""`evenkeel recording unpack`: the snapshots of a recording in a lake folder, where Spark and the DAGs read them."""

from __future__ import annotations

from typing import Annotated

from ..options import argument, epilog, option

EPILOG = epilog(
    [
        "evenkeel recording unpack cluster.recording --into .evenkeel/lake",
        "evenkeel recording unpack cluster.recording --into /var/lib/evenkeel/lake",
    ],
    [0, 1, 2, 4],
)


def unpack(
    file: Annotated[str, argument("FILE", "A recording, or a lake folder.")],
    into: Annotated[str, option("--into DIR", "The lake folder; it keeps what it has.")],
) -> None:
    """Copy the snapshots of a recording into a lake folder."""
    from ... import wiring
    from ...snapshots import SNAPSHOT
    from .show import manifests_of

    recording = wiring.recorded(file)
    manifests = manifests_of(recording, file)
    target = wiring.lake(wiring.settings().model_copy(update={"lake": into}))
    for manifest in manifests:
        own = {name: recording.read(name, [manifest.snapshot_id]) for name in SNAPSHOT}
        target.write("snapshot", manifest.snapshot_id, own, manifest.facts)
    print(f"{len(manifests):,} snapshots are now in {into}")
