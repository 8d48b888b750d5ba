"""`evenkeel snapshot record`: snapshots as one small file that needs no service to be read."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from ...model.errors import InputError
from ..command_end import complain
from ..options import Bootstrap, ClusterName, epilog, option

EPILOG = epilog(
    [
        "evenkeel snapshot record --bootstrap broker1:9092 --samples 5 --every 60 --out cluster.recording",
        "evenkeel snapshot record --lake .evenkeel/lake --cluster prod --last 12 --out prod.recording",
        "evenkeel advise --from cluster.recording       # what to do with one",
    ],
    [0, 1, 2, 3, 4],
    "The file is rewritten after each snapshot, so an interrupted recording keeps what it has. After the first, a "
    "snapshot that fails is left out. The file contains group ids, client ids, hosts and racks, but no records.",
)


def record(
    out: Annotated[str, option("--out FILE", "The recording; it is overwritten.")],
    bootstrap: Bootstrap = None,
    cluster: ClusterName = None,
    samples: Annotated[
        int | None,
        option(
            "--samples", "Snapshots to take of a live cluster.", min=1, max=500, show_default="5"
        ),
    ] = None,
    every: Annotated[
        float | None,
        option("--every SECONDS", "Seconds between two snapshots.", min=0, show_default="10"),
    ] = None,
    lake: Annotated[
        str | None, option("--lake DIR", "Record stored snapshots of this lake instead.")
    ] = None,
    last: Annotated[int | None, option("--last N", "Only its newest N snapshots.", min=1)] = None,
) -> None:
    """Write live or stored snapshots to a recording (one file)."""
    from ... import wiring
    from ...adapters.recording import write_recording
    from ...ports import ALL
    from .. import sources

    if lake is None:
        if last is not None:
            raise InputError(
                "--last chooses among stored snapshots.", fix="Add --lake DIR, or leave it out."
            )
        settings, name = sources.live(wiring.settings(), bootstrap, cluster)
        taken = wiring.scratch()
        ids = sources.take(
            settings,
            name,
            taken,
            samples=samples or 5,
            every=10 if every is None else every,
            after=partial(write_recording, out, taken),
        )
        for problem in taken.manifest("snapshot", ids[-1]).facts.get("problems", ()):
            complain(f"not read: {problem}")
    else:
        if (bootstrap, samples, every) != (None, None, None):
            raise InputError(
                "--bootstrap, --samples and --every take new snapshots, --lake records stored ones.",
                fix="Use the one or the other.",
            )
        stored = wiring.recorded(lake)
        ids = sources.from_lake(wiring.settings(), stored, cluster, lake).ids(last or ALL)
        write_recording(out, stored, ids)
    print(f"{out}: {len(ids):,} snapshots, {Path(out).stat().st_size:,} bytes")
