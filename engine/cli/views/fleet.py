"""What `evenkeel advise` prints of many groups: the worst first, no line wider than `WIDTH`, healthy ones counted."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from ...assignors.kafka.protocol_names import strategy_of
from ...messages.wording.short_reasons import RACK_FINDINGS, gravity, notable, short_reason
from ...metrics.observe import OBJECTIVE
from ...model.assignments import Advice, AdviceState, Verdict
from ...model.command import command_in_text
from ...model.formats import NOTHING, UNKNOWN, brief, brief_duration, minute, or_unknown
from ...model.states import Diagnosis, GroupType, worst_first
from ...model.text import and_more, cut, several
from ...records import GroupMetrics
from ..local_mode import LOCAL_RUN
from .columns import Shown, cell, pick, table
from .layout import GAP
from .tables import WIDTH, Table, legend_of, screen_width, show, tell, text

if TYPE_CHECKING:
    from ...config import Settings
    from ..local_mode import JudgedGroup

LEAST_NAME, MOST_NAME = 16, 60
"""A name of a group is not cut to less than that in the table, and to so much below it."""

STRATEGY = 20
"""As many characters of a strategy's name are shown."""

NAMED = 30
"""As many healthy groups are named."""

_ACROSS = pick(GroupMetrics, "cross_rack_share")[0]


class Recommendation(enum.Enum):
    """What a group is advised, in a word."""

    NOT_EVALUATED = enum.auto()
    ADVISED = enum.auto()
    PENDING = enum.auto()
    KEEP = enum.auto()

    @property
    def is_change(self) -> bool:
        """Whether another assignment is advised, or about to be."""
        return self in (Recommendation.ADVISED, Recommendation.PENDING)


PENDING = "pending: would help, but there is not enough evidence yet."

_TOO_LITTLE_KNOWN = ("unknown_lag", "no_forecast", "diagnosis_unknown")
"""Reasons that only name what is unknown."""


def recommendation(advice: Advice) -> Recommendation:
    """What a group is advised; one of which too little is known is not evaluated."""
    first = advice.facts[0].measure if advice.facts else None
    if advice.verdict is Verdict.NOT_EVALUATED or first in _TOO_LITTLE_KNOWN:
        return Recommendation.NOT_EVALUATED
    if advice.verdict is Verdict.SWITCH:
        return Recommendation.ADVISED
    return Recommendation.PENDING if first == "to_be_confirmed" else Recommendation.KEEP


def current(one: JudgedGroup) -> str | None:
    """What a group runs, by our name where there is one; None where it is unknown."""
    running = [row["strategy"] for row in one.candidates if row["is_running"]]
    if running:
        return str(running[0])
    wire = one.metrics["assignor"]
    return (strategy_of(GroupType(one.metrics["group_type"]), wire) or str(wire)) if wire else None


def advised(one: JudgedGroup) -> str:
    """The advice in a few words, which name the strategy."""
    what = recommendation(one.advice)
    if what is Recommendation.NOT_EVALUATED:
        return "not evaluated"
    if what is Recommendation.KEEP:
        return f"keep {cut(text(current(one), 'the assignment'), STRATEGY)}"
    return f"{cut(text(one.advice.strategy), STRATEGY)} ({what.name.lower()})"


def diagnosis(one: JudgedGroup) -> Diagnosis:
    """The diagnosis of a group."""
    return Diagnosis(one.metrics["diagnosis"] or Diagnosis.UNKNOWN)


def is_quiet(one: JudgedGroup) -> bool:
    """Whether a group is healthy, keeps its assignment, waits for nothing, and has no finding."""
    return (
        diagnosis(one) is Diagnosis.HEALTHY
        and recommendation(one.advice) is Recommendation.KEEP
        and one.advice.state not in (AdviceState.PROPOSED, AdviceState.ADOPTED)
        and not notable(one.found)
    )


def order(one: JudgedGroup) -> tuple[object, ...]:
    """A key that sorts the worst first; of equally healthy groups those that may change or were found odd."""
    place, *further = worst_first(
        diagnosis(one), one.metrics["delay_seconds"], one.metrics["total_lag"]
    )
    change = recommendation(one.advice).is_change
    is_healthy = diagnosis(one) is Diagnosis.HEALTHY
    quiet = (is_quiet(one), not change, gravity(one.found)) if is_healthy else ()
    return (place, quiet, *further, one.advice.group)


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """
    The groups of a cluster, and where they come from.

    Attributes:
        groups: All that were asked for.
        cluster: Its name.
        taken_at: When the newest snapshot was taken.
        snapshots: How many were read.
        settings: The configuration.
    """

    groups: Sequence[JudgedGroup]
    cluster: str
    taken_at: datetime
    snapshots: int
    settings: Settings


def show_fleet(fleet: Fleet, *, every: bool = False) -> None:
    """
    Print the groups, the worst first.

    Args:
        fleet: They.
        every: Whether healthy ones get a row, too.
    """
    width = screen_width()
    groups = sorted(fleet.groups, key=order)
    listed = [one for one in groups if every or not is_quiet(one)]
    quiet = [] if every else [one for one in fleet.groups if is_quiet(one)]
    tell([_heading(fleet), *_counts(fleet)], width=width)
    rows = overview(listed, width)
    if listed:
        print()
        show([rows], legend=False)
    if quiet:
        if not listed:
            print()
        tell([healthy([one.advice.group for one in quiet], "no change advised")], width=width)
    print()
    tell(_legend(listed or quiet, rows, width), width=width)


def healthy(groups: Sequence[str], what: str) -> str:
    """That so many groups are healthy, and the first names."""
    names = ", ".join(cut_to(text(name), MOST_NAME) for name in groups[:NAMED])
    more = f"{and_more(len(groups) - NAMED)} (--all shows them)"
    return f"{several(len(groups), 'healthy group')}, {what}: {names}{more}"


def in_cluster(group: str, cluster: str) -> str:
    """A group and its cluster, as a headline begins."""
    return f"{cut_to(text(group), MOST_NAME)} ({text(cluster)})"


def _heading(fleet: Fleet) -> str:
    return (
        f"Cluster {text(fleet.cluster)}: {several(len(fleet.groups), 'group')}, "
        f"{several(fleet.snapshots, 'snapshot')}, newest {minute(fleet.taken_at)} ({LOCAL_RUN})"
    )


def _counts(fleet: Fleet) -> list[str]:
    """How many groups there are of each kind that needs attention; nothing of none."""
    all_of = [recommendation(one.advice) for one in fleet.groups]
    switches = [
        f"{number:,} switch{'es' * (number != 1)} {what.name.lower()}"
        for what in (Recommendation.ADVISED, Recommendation.PENDING)
        if (number := all_of.count(what))
    ]
    blank = all_of.count(Recommendation.NOT_EVALUATED)
    behind = sum(is_behind(one.metrics, fleet.settings) for one in fleet.groups)
    odd = sum(any(fact.measure in RACK_FINDINGS for fact in one.found) for one in fleet.groups)
    told = [
        *switches,
        *([f"{several(behind, 'group')} behind"] if behind else []),
        *([f"{blank:,} not evaluated"] if blank else []),
        *([several(odd, "rack finding")] if odd else []),
    ]
    return [", ".join(told)] if told else []


def is_behind(metrics: Mapping[str, Any], settings: Settings) -> bool:
    """Whether a group is further behind than its lag SLO allows, by its row of `group_metrics`."""
    rule = settings.rule(metrics["cluster"], metrics["group_id"])
    behind = metrics["delay_seconds"]
    return behind is not None and behind > (rule.lag_slo_seconds or OBJECTIVE)


def overview(groups: Sequence[JudgedGroup], width: int = WIDTH) -> Table:
    """
    The groups as rows that fit: names are cut for it, in the middle.

    Args:
        groups: In their order.
        width: As wide as the table may be.
    """
    columns: list[tuple[str, Callable[[JudgedGroup], str]]] = [
        ("HEALTH", lambda one: diagnosis(one).value),
        (">LAG", lambda one: or_unknown(brief)(one.metrics["total_lag"])),
        (">BEHIND", lambda one: or_unknown(brief_duration)(one.metrics["delay_seconds"])),
        (">X-RACK", lambda one: cell(_ACROSS, one.metrics["cross_rack_share"], one.metrics)),
        ("ADVICE", advised),
        ("WHY", lambda one: text(short_reason(one.advice.facts, one.found))),
    ]
    widths = {
        heading: max([cell_len(heading.strip(">")), *(cell_len(value(one)) for one in groups)])
        for heading, value in columns
    }
    names = [text(one.advice.group) for one in groups]
    limit = _name_width(widths, max(map(cell_len, names), default=0), width)
    name: Shown = ("GROUP", lambda one: cut_to(text(one.advice.group), limit))
    return table([name, *columns], groups, apart=True, spare=["X-RACK", "BEHIND"])


def _name_width(widths: Mapping[str, int], longest: int, width: int) -> int:
    """The room for names: beside all columns, else beside those that a narrow screen shows together."""
    left = dict(widths)
    for dropped in (None, "WHY", ">X-RACK", ">BEHIND"):
        left.pop(dropped or "", None)
        room = width - sum(left.values()) - GAP * len(left)
        if room >= min(longest, LEAST_NAME):
            return room
    return LEAST_NAME


def cut_to(name: str, width: int) -> str:
    """A name in so many columns of a screen, of which some characters take two."""
    limit = width
    while cell_len(shown := cut(name, limit)) > width and limit > 1:
        limit -= 1
    return shown


def _legend(groups: Sequence[JudgedGroup], rows: Table, width: int) -> list[str]:
    change = [one for one in groups if recommendation(one.advice).is_change]
    name = (change or groups)[0].advice.group
    details = f"Details and next step: {command_in_text('evenkeel advise --group {}', name)}"
    meant = [
        ("X-RACK", "partitions read across racks"),
        ("BEHIND", "time lag beyond the commit interval"),
    ]
    shown = [told] if (told := legend_of([rows])) else []
    for heading, meaning in meant:
        place = [each.strip(">") for each in rows.headings].index(heading)
        if any(row[place] not in (UNKNOWN, NOTHING) for row in rows.rows):
            shown.append(f"{heading}: {meaning}")
    waits = Recommendation.PENDING in [recommendation(one.advice) for one in groups]
    notes = [*([PENDING] if waits else []), details]
    together = " ".join(notes)
    # a command is not broken where that can be helped
    lines = [together] if cell_len(together) <= width else notes
    return [*lines, *(["; ".join(shown)] if shown else [])]
