"""`evenkeel report`: one HTML file that shows a cluster's groups, for a browser or a phone, without any service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ...model.errors import InputError
from ...model.text import several
from ..command_end import complain
from ..options import ClusterName, Group, epilog, option

EPILOG = epilog(
    [
        "evenkeel report --from cluster.recording --group 'orders-*' --out orders.html",
        "evenkeel report --cluster prod --snapshots 48   # the configured lake",
        "evenkeel report --database                      # from the history database, at once",
        "evenkeel report --from lake --without-racks     # with the loss of each rack",
    ],
    [0, 1, 2, 4, 5],
    "The file is self-contained: it loads nothing from the network. It contains names of groups, topics and members, "
    "hosts and racks, but no records.",
    "From a recording or a lake, evenkeel evaluates every snapshot with what was known at that time, and replays "
    "every strategy on the newest. With --database it shows stored results only, which is faster for large clusters. "
    "It uses EVENKEEL_DATABASE_URL, or else the database of a demo in this folder.",
)

FILE = "evenkeel-report.html"


def report(
    stored: Annotated[
        str | None,
        option(
            "--from FILE|DIR|lake",
            "A recording, a lake folder, or `lake` for the configured lake (the default).",
        ),
    ] = None,
    database: Annotated[
        bool, option("--database", "Read the history database (Postgres) instead of a lake.")
    ] = False,
    cluster: ClusterName = None,
    group: Group = "*",
    snapshots: Annotated[
        int | None,
        option(
            "--snapshots",
            "Use the newest N snapshots. Default: 288 (a day at five minutes), or fewer for a lake with many groups, "
            "so that it takes a minute or two.",
            min=1,
        ),
    ] = None,
    without_racks: Annotated[
        bool,
        option(
            "--without-racks",
            "Add a forecast of each group for the loss of each rack.",
        ),
    ] = False,
    out: Annotated[Path, option("--out FILE", "The HTML file; it is overwritten.")] = Path(FILE),
) -> None:
    """Write an HTML report of groups over time."""
    from ...report import render
    from .. import report_source
    from ..files import check_folder, replacing

    if database and stored is not None:
        raise InputError("--from and --database exclude each other.", fix="Give one of them.")
    if database and without_racks:
        raise InputError(
            "--without-racks: the history database keeps no assignments to replay.",
            fix="Give --from in place of --database.",
        )
    what, fix = "the report ", "Name another place with --out."
    check_folder(out, what=what, fix=fix)
    fleet = (
        report_source.from_database(cluster, group, snapshots)
        if database
        else report_source.from_lake(stored, cluster, group, snapshots, without_racks=without_racks)
    )
    page = render(fleet)
    with replacing(out, what=what, fix=fix) as partial:
        partial.write_text(page, encoding="utf-8")
    size = len(page.encode()) / 1e6
    complain(
        f"written: {out}, {several(len(fleet.groups), 'group')} over "
        f"{several(len(fleet.taken_at), 'snapshot')}, {size:.1f} MB"
    )
