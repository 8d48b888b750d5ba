"""`evenkeel report`: one HTML file that shows a cluster's groups, for a browser or a phone, without any service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ...model.errors import InputError
from ...model.text import several
from ..command_end import complain
from ..options import ClusterName, GroupPattern, epilog, option

EPILOG = epilog(
    [
        "evenkeel report --from cluster.recording --group 'orders-*' --out orders.html",
        "evenkeel report --cluster prod --snapshots 48   # the configured lake",
        "evenkeel report --database                      # the history in Postgres, at once",
        "evenkeel report --from lake --without-racks     # with what the end of each rack would do",
    ],
    [0, 1, 2, 4, 5],
    "The file is self-contained: it can be mailed, opened on a phone and read without a network; nothing in it "
    "makes a request. It holds group, topic and member names, hosts and racks, and no message.",
    "From a recording or a lake it is the plain form: every snapshot is judged with what was known by then, as "
    "`evenkeel backtest` does, and every strategy is replayed on the newest. With --database it shows what the "
    "pipeline stored, and judges nothing: 1,000 groups take seconds. It asks the database of EVENKEEL_DATABASE_URL; "
    "without it, the one a demo in this folder keeps.",
)

FILE = "evenkeel-report.html"


def report(
    stored: Annotated[
        str | None,
        option(
            "--from FILE|DIR|lake",
            "A recording, a lake folder, or with `lake` the configured lake; that is the default.",
        ),
    ] = None,
    database: Annotated[
        bool, option("--database", "What the history in Postgres has, in place of a lake.")
    ] = False,
    cluster: ClusterName = None,
    group: GroupPattern = "*",
    snapshots: Annotated[
        int | None,
        option(
            "--snapshots",
            "Look at so many snapshots at most, the newest; without it at 288 (a day at five minutes), and of a "
            "lake with many groups at fewer, for a minute or two.",
            min=1,
        ),
    ] = None,
    without_racks: Annotated[
        bool,
        option(
            "--without-racks",
            "Add what would become of each group of the newest snapshot if a rack were lost, rack by rack.",
        ),
    ] = False,
    out: Annotated[Path, option("--out FILE", "The HTML file; replaced.")] = Path(FILE),
) -> None:
    """Write an HTML report of groups over time."""
    from ...report import render
    from .. import report_source

    if database and stored is not None:
        raise InputError("--from and --database exclude each other.", fix="Give one of them.")
    if database and without_racks:
        raise InputError(
            "--without-racks: the history in Postgres keeps no assignments to replay.",
            fix="Give --from in place of --database.",
        )
    fleet = (
        report_source.from_database(cluster, group, snapshots)
        if database
        else report_source.from_lake(stored, cluster, group, snapshots, without_racks=without_racks)
    )
    page = render(fleet)
    try:
        out.write_text(page, encoding="utf-8")
    except OSError as problem:
        raise InputError(
            f"the report {out} cannot be written: {problem.strerror or problem}.",
            fix="Name another place with --out.",
        ) from problem
    size = len(page.encode()) / 1e6
    complain(
        f"written: {out}, {several(len(fleet.groups), 'group')} over "
        f"{several(len(fleet.taken_at), 'snapshot')}, {size:.1f} MB"
    )
