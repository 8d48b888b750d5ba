"""What `evenkeel readiness` prints: groups in the order in which they should move, or one in full."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...messages.wording import several, words
from ...model.facts import Fact
from ...model.formats import NOTHING, UNKNOWN, number
from ...model.states import Readiness
from ...model.text import sentence
from ...records import ReadinessRow
from .columns import table
from .fleet import MOST_NAME, cut_to
from .tables import screen_width, show, tell, tell_answer, tell_legend, text

QUIET = (Readiness.MOVED, Readiness.NOT_APPLICABLE)
"""Groups that are counted only: nothing is left to do for them."""


def show_readiness(
    rows: Sequence[ReadinessRow],
    brokers: Sequence[Fact],
    *,
    every: bool = False,
    wide: bool = False,
) -> None:
    """
    Print a line per group, or one group in full.

    Args:
        rows: The groups in their order.
        brokers: What the settings of the brokers say for all of them.
        every: Whether groups that have moved, or never do, are listed, too.
        wide: Whether nothing is cut.
    """
    width = screen_width()
    if len(rows) == 1:
        _show_one(rows[0], brokers)
        return
    tell([_counted(rows), *(sentence(words(each)) for each in brokers), ""], width=width)
    listed = [row for row in rows if every or row.readiness not in QUIET]
    overview = table(
        [
            (">#", lambda row: number(row.place) if row.place else NOTHING),
            ("GROUP", lambda row: cut_to(text(row.group_id), MOST_NAME)),
            ("READINESS", lambda row: row.readiness.value),
            (">MEMBERS", lambda row: number(row.members) if row.members is not None else UNKNOWN),
            ("NOW", lambda row: text(row.strategy, NOTHING)),
            ("THEN", lambda row: text(row.strategy_there, NOTHING)),
            ("WHY", lambda row: text(_why(row), NOTHING)),
        ],
        listed,
        spare=["MEMBERS", "NOW"],
        is_list=True,
    )
    if listed:
        show([overview], wide=wide, legend=False)
    first = next((row for row in rows if row.next_step), None)
    more = [f"{first.next_step} prints the first move and its rollback"] if first else []
    hidden = [] if every or len(listed) == len(rows) else ["--all lists all groups"]
    tell_legend([overview], *more, *hidden, width=width)


def _counted(rows: Sequence[ReadinessRow]) -> str:
    counts = Counter(row.readiness for row in rows)
    told = (f"{counts[kind]:,} {kind.value}" for kind in Readiness if counts[kind])
    return f"{several(len(rows), 'group')}: {', '.join(told)}"


def _why(row: ReadinessRow) -> str:
    """The first of what forbids it, what it costs, and what it brings."""
    return "; ".join(next(filter(None, (row.why, row.losses, row.gains, row.notes)), ()))


def _show_one(row: ReadinessRow, brokers: Sequence[Fact]) -> None:
    members = "" if row.members is None else f", {several(row.members, 'member')}"
    lines: list[tuple[str, str | None]] = [
        (
            "Moves",
            f"{row.strategy or 'unknown'} -> {row.strategy_there}" if row.strategy_there else None,
        )
    ]
    for label, told in (
        ("Why", row.why),
        ("Loses", row.losses),
        ("Gains", row.gains),
        ("Note", (*row.notes, *map(words, brokers))),
    ):
        lines += [(label, sentence(each)) for each in told]
    name = cut_to(text(row.group_id), MOST_NAME)
    headline = f"{name}: {row.readiness.value} for the consumer protocol, {row.group_type}{members}"
    tell_answer(headline, [*lines, ("Next", row.next_step)])
