"""`evenkeel record` and `evenkeel replay`: snapshots as one small file that needs no service to be read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.cli.options import AsJson, Bootstrap, ClusterName, epilog
from engine.cli.running import NothingFound, complain
from engine.errors import InputError

if TYPE_CHECKING:
    from engine.cli.tables import Table
    from engine.ports import Manifest

EPILOG = epilog(
    [
        "evenkeel record --bootstrap kafka-1:9092 --samples 5 --every 60 --out cluster.recording",
        "evenkeel record --lake .evenkeel/lake --cluster prod --last 12 --out prod.recording",
        "evenkeel advise --from cluster.recording       # what to do with one",
    ],
    [0, 1, 2, 3, 4],
    "The file is written anew after each snapshot of a live cluster: an interrupted recording keeps what it has. "
    "It holds group ids, client ids, hosts and racks, and no message.",
)
REPLAY_EPILOG = epilog(
    [
        "evenkeel replay cluster.recording              # what is in it",
        "evenkeel replay cluster.recording --into lake  # as a lake, for Spark and everything else",
        "evenkeel lag --from cluster.recording",
    ],
    [0, 1, 2, 4],
)


def record(
    out: Annotated[str, typer.Option("--out", metavar="FILE", help="The recording; replaced.")],
    bootstrap: Bootstrap = None,
    cluster: ClusterName = None,
    samples: Annotated[
        int | None,
        typer.Option(
            "--samples",
            min=1,
            max=500,
            show_default="5",
            help="Snapshots to take of a live cluster.",
        ),
    ] = None,
    every: Annotated[
        float | None,
        typer.Option(
            "--every",
            metavar="SECONDS",
            min=0,
            show_default="10",
            help="From one of them to the next.",
        ),
    ] = None,
    lake: Annotated[
        str | None,
        typer.Option("--lake", metavar="DIR", help="Record stored snapshots of this lake instead."),
    ] = None,
    last: Annotated[
        int | None, typer.Option("--last", metavar="N", min=1, help="Only its newest N snapshots.")
    ] = None,
) -> None:
    """Write snapshots, taken now or stored, into one small file."""
    if lake is None:
        _only(
            last is None,
            "--last chooses among stored snapshots",
            "Add --lake DIR, or leave it out.",
        )
        count = _record_live(bootstrap, cluster, samples or 5, 10 if every is None else every, out)
    else:
        _only(
            bootstrap is None and samples is None and every is None,
            "--bootstrap, --samples and --every take new snapshots, --lake records stored ones",
            "Use the one or the other.",
        )
        count = _record_stored(lake, cluster, last, out)
    print(f"{out}: {count:,} snapshots, {Path(out).stat().st_size:,} bytes")


def _only(right: bool, why: str, fix: str) -> None:
    if not right:
        raise InputError(f"{why}.", fix=fix)


def _record_live(
    bootstrap: str | None, cluster: str | None, samples: int, every: float, out: str
) -> int:
    from engine import wiring
    from engine.adapters.replay import write_recording
    from engine.cli import sources

    settings, name = sources.live(wiring.settings(), bootstrap, cluster)
    lake = wiring.scratch()

    def write(ids: Sequence[str]) -> None:
        write_recording(out, lake, ids)

    ids = sources.take(settings, name, lake, samples=samples, every=every, after=write)
    for problem in lake.manifest("snapshot", ids[-1]).facts.get("problems", ()):
        complain(f"not read: {problem}")
    return len(ids)


def _record_stored(lake: str, cluster: str | None, last: int | None, out: str) -> int:
    from engine import wiring
    from engine.adapters.replay import write_recording
    from engine.cli import sources

    source = sources.from_lake(wiring.settings(), wiring.recorded(lake), cluster, lake)
    ids = source.ids(last or 1_000_000)
    write_recording(out, source.lake, ids)
    return len(ids)


def replay(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A recording, or a lake folder.")],
    into: Annotated[
        str | None,
        typer.Option("--into", metavar="DIR", help="Unpack its snapshots into this lake folder."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tell what a recording holds, or unpack it into a lake folder."""
    from engine import wiring
    from engine.cli.snapshot import summary
    from engine.cli.tables import emit, show
    from engine.datasets import SNAPSHOT

    recording = wiring.recorded(file)
    ids = [
        i for name in recording.clusters() for i in recording.snapshots(name, limit=1_000_000)[::-1]
    ]
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
    from engine.cli.tables import Table

    counted = ("groups", "members", "partitions", "brokers")
    headings = ["Snapshot", *(f">{name.capitalize()}" for name in counted), ">Seconds", ">Not read"]
    return Table(headings=headings, rows=[_contents_row(m, counted) for m in manifests])


def _contents_row(manifest: Manifest, counted: Sequence[str]) -> list[str]:
    from engine.cli.snapshot import seconds
    from engine.cli.tables import number

    problems: Any = manifest.facts.get("problems", ())
    return [
        manifest.snapshot_id,
        *(number(manifest.rows.get(name)) for name in counted),
        f"{seconds(manifest):.1f}",
        number(len(problems)),
    ]
