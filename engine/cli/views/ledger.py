"""What `evenkeel ledger` prints: the scores of past advice, and whether it is unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from ...advice.ledger import Chain, Finding, Misfit
from ...model.formats import NOTHING, brief, clock, minute, number, percent
from ...model.text import printable, several
from .layout import plain_heading
from .tables import Table, show, tell

HOUR, DAY = 3600, 86_400

NAMES: Mapping[str, str] = {
    "switches_that_paid": "Switches that paid",
    "harm": "Switches that did harm",
    "recall": "Recall",
    "regret": "Regret",
    "coverage": "Coverage of forecasts",
    "coverage_of_worst_tenth": "Coverage, worst tenth of groups",
    "wobble": "Advice withdrawn and given again",
    "messages": "Messages",
}
"""The scores as they are printed."""

NO_CASE = "no case yet"

LAG_SECONDS = ("switches_that_paid", "harm", "recall", "regret")
"""The scores whose worst case is an amount of lag."""

_WRONG: Mapping[Misfit, str] = {
    Misfit.ROW_MISSING: "row {expected} of the ledger is missing before it",
    Misfit.ROW_CHANGED: "its row was changed: the hash is {expected}, that of its columns {found}",
    Misfit.ORDER_CHANGED: "the row before it was changed: its hash was {found}, now {expected}",
    Misfit.SNAPSHOT_MISSING: "the snapshot is missing, although older ones are there",
    Misfit.ADVICE_MISSING: "advice for {expected:,} groups expected, {found:,} found",
    Misfit.ADVICE_ADDED: "advice for {expected:,} groups expected, {found:,} found",
    Misfit.ADVICE_CHANGED: "advice was changed: digest {expected} expected, {found} found",
    Misfit.NOT_IN_LEDGER: "it has advice, and no row in the ledger",
}


def show_scores(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the scores of each cluster, with their targets and worst cases."""
    for place, own in enumerate(_by_cluster(rows)):
        tell([*([""] if place else []), _title(own), ""])
        show([_scores(own), _rates(own)])


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """The same in Markdown."""
    paragraphs: list[str] = []
    for own in _by_cluster(rows):
        tables = ("\n".join(_markdown(table)) for table in (_scores(own), _rates(own)))
        paragraphs += [_title(own), *tables]
    return "\n\n".join(paragraphs)


def _by_cluster(rows: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    return [list(own) for _, own in groupby(rows, key=lambda row: row["cluster"])]


def _title(rows: Sequence[Mapping[str, Any]]) -> str:
    first = rows[0]
    return (
        f"{printable(first['cluster'])}: {several(first['snapshots'], 'snapshot')} from {minute(first['since'])}"
        f" to {minute(first['until'])}, {number(first['group_days'])} group-days"
    )


def _scores(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Those of an hour and of a day after the adoption, side by side."""
    by_time = {(row["score"], row["after_seconds"]): row for row in rows}
    names = dict.fromkeys(row["score"] for row in rows if row["after_seconds"] is not None)
    return Table(
        headings=(
            "Score",
            "Target",
            ">After 1 h",
            ">Cases",
            ">After 1 d",
            ">Cases",
            "Worst case (UTC)",
        ),
        rows=[
            (
                NAMES[name],
                _target(by_time[name, HOUR]),
                *(cell for after in (HOUR, DAY) for cell in _value(by_time[name, after])),
                _worst(by_time[name, HOUR]),
            )
            for name in names
        ],
    )


def _rates(rows: Sequence[Mapping[str, Any]]) -> Table:
    return Table(
        headings=("Per 1,000 group-days", ">Number", "Worst case (UTC)"),
        rows=[
            (
                NAMES[row["score"]],
                NO_CASE if row["value"] is None else brief(row["value"]),
                _worst(row),
            )
            for row in rows
            if row["after_seconds"] is None
        ],
    )


def _value(row: Mapping[str, Any]) -> tuple[str, str]:
    """A score, marked if it misses its target, and its number of cases."""
    value, least, most = row["value"], row["at_least"], row["at_most"]
    if value is None:
        return NO_CASE, number(row["cases"])
    is_missed = (least is not None and value < least) or (most is not None and value > most)
    shown = percent(value)
    if is_missed and shown in [percent(end) for end in (least, most) if end is not None]:
        shown = f"{value:.1%}"  # or it would read as if it met its target
    return f"{shown}{' (missed)' if is_missed else ''}", number(row["cases"])


def _target(row: Mapping[str, Any]) -> str:
    least, most = row["at_least"], row["at_most"]
    if least is not None and most is not None:
        return f"{percent(least)} to {percent(most)}"
    return f"at least {percent(least)}" if least is not None else f"at most {percent(most)}"


def _worst(row: Mapping[str, Any]) -> str:
    """Group, time and value of the worst case."""
    if row["worst_group"] is None:
        return NOTHING
    at = f" {clock(row['worst_at'])}" if row["worst_at"] else ""
    value = row["worst_value"]
    if value is None:
        how = ""
    elif row["score"] in LAG_SECONDS:
        how = f": {'-' if value < 0 else ''}{brief(abs(value))} lag-seconds"
    else:
        how = f": {several(round(value), 'time') if row['score'] == 'wobble' else percent(value)}"
    return f"{row['worst_group']}{at}{how}"


def _markdown(table: Table) -> list[str]:
    """The lines of a table in Markdown."""
    marks = ["---:" if heading.startswith(">") else "---" for heading in table.headings]
    headings = [plain_heading(heading) for heading in table.headings]
    cells = [[cell.replace("|", "\\|") for cell in row] for row in table.rows]
    return [f"| {' | '.join(row)} |" for row in (headings, marks, *cells)]


def show_chains(chains: Sequence[Chain]) -> None:
    """Print for each cluster what was verified, its newest hash, and the first snapshot that doesn't fit."""
    for chain in chains:
        since = f" since {minute(chain.since)}" if chain.since else ""
        tell(
            [
                f"{chain.cluster}: {several(chain.rows, 'snapshot')}{since}, of these {chain.whole:,} with all advice,"
                f" {chain.lasting:,} with advice that changed or had an outcome,"
                f" {chain.expired:,} past retention (row only)",
                f"  newest hash: {chain.head or NOTHING}",
                f"  {_told(chain.finding)}",
            ]
        )


def _told(finding: Finding | None) -> str:
    if finding is None:
        return "verified: nothing was changed"
    row = f" (row {finding.number:,})" if finding.number is not None else ""
    wrong = _WRONG[finding.kind].format(expected=finding.expected, found=finding.found)
    return f"CHANGED: snapshot {printable(finding.snapshot_id)}{row}: {wrong}"
