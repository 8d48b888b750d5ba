"""`evenkeel ledger`: was the advice worth taking, and is it still what was stored."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from ...model.errors import InputError
from ..command_end import NothingFound, complain
from ..options import AsJson, epilog, option

if TYPE_CHECKING:
    from ...advice.ledger import Chain
    from ...ports import History

EPILOG = epilog(
    [
        "evenkeel ledger                            # the scores of the last 30 days",
        "evenkeel ledger --cluster eu --days 7 --markdown > scores.txt",
        "evenkeel ledger --verify                   # compares the history with the ledger",
        'evenkeel ledger --verify --head "$NOTED"   # and with a hash that you noted earlier',
    ],
    [0, 1, 2, 5],
    "For every snapshot, the ledger has a digest of the advice for all groups, silence included, and the hash of the "
    "row before. Advice is stored before its outcome. A hash that you keep outside of the database shows whether "
    "anything before it was changed.",
    "The scores are those of `evenkeel query ledger_scores`, which defines them. Outcomes come from replays of the "
    "assignment before a switch, and of switches that were not made.",
    "With --verify, the exit code is 1 if a snapshot or row was changed, removed or added. Repeated advice is deleted "
    "after keep_detail_hours and snapshots after keep_days; rows of the ledger are kept.",
)


def ledger(
    cluster: Annotated[str | None, option("--cluster NAME", "This cluster only.")] = None,
    days: Annotated[
        float, option("--days N", "Length of the period for the scores.", min=0.01)
    ] = 30,
    verify: Annotated[
        bool, option("--verify", "Compare the stored advice with the ledger.")
    ] = False,
    head: Annotated[
        str | None,
        option("--head HASH", "With --verify: a hash of an earlier --verify that must be there."),
    ] = None,
    markdown: Annotated[bool, option("--markdown", "Print the scores in Markdown.")] = False,
    as_json: AsJson = False,
) -> None:
    """Score past advice by its outcome, and verify that it is unchanged."""
    from ... import wiring
    from ..database import database
    from ..views import ledger as views
    from ..views.tables import emit

    if (head is not None and not verify) or (markdown and (verify or as_json)):
        wrong = "--head needs --verify." if head else "--markdown excludes --verify and --json."
        raise InputError(wrong, fix="See `evenkeel ledger --help`.")
    settings, where = database()
    complain(f"database: {where}")
    history = wiring.history(settings)
    if verify:
        _verify(history, cluster, head, as_json=as_json)
        return
    given = {} if cluster is None else {"cluster": cluster}
    rows = history.query("ledger_scores", hours=24 * days, **given)
    if not rows:
        raise NothingFound("the ledger has no snapshot of this period.")
    if as_json:
        emit(rows)
    elif markdown:
        print(views.markdown(rows))
    else:
        views.show_scores(rows)


def _verify(history: History, cluster: str | None, head: str | None, *, as_json: bool) -> None:
    from ...advice.ledger import verified
    from ..views import ledger as views
    from ..views.tables import emit

    entries = history.ledger(cluster)
    chains: list[Chain] = verified(entries)
    if not chains:
        raise NothingFound("the ledger is empty.")
    if as_json:
        emit(map(asdict, chains))
    else:
        views.show_chains(chains)
    hashes = {entry.written.hash for entry in entries if entry.written is not None}
    is_known = head is None or head in hashes
    if not is_known:
        complain(f"no row of the ledger has the hash {head}: rows were changed or removed.")
    if not is_known or any(chain.finding for chain in chains):
        raise typer.Exit(1)
