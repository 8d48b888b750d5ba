"""What `evenkeel top` draws: groups, worst first, or one of them with its members and partitions."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Group
from rich.layout import Layout
from rich.table import Table as Grid
from rich.text import Text

from ...model.formats import (
    NOTHING,
    UNKNOWN,
    brief,
    brief_duration,
    moment,
    or_unknown,
    utilization,
)
from ...model.states import Diagnosis
from ...model.text import and_more, printable, several
from ...records import GroupMetrics, MemberMetrics, record_of
from ...snapshots import split_snapshot_id
from ..top_state import Page, TopState
from .answers import short_names
from .columns import Shown, short, table
from .fleet import LEAST_NAME, MOST_NAME, cut_to, is_behind
from .lag import RATES, about, largest_lag, partition_table
from .layout import GAP, LEFT_OUT, lay_out, plain_heading, wrap
from .tables import Table, colored, legend_of, text

if TYPE_CHECKING:
    from ..top_watch import Seen, Watch

HEAD, FOOT = 2, 2
"""Lines above and below the groups or the open group."""

REASON, WHOLE_NAME = 24, 32
"""A column of reasons has at least this width, and names have so much before there is one."""

_STYLES = {Diagnosis.HEALTHY: "green", Diagnosis.UNKNOWN: "dim"}

_MEMBER = {
    "partitions": "PARTITIONS",
    "lag": "LAG",
    "production_per_second": "IN",
    "consumption_per_second": "OUT",
    "capacity_per_second": "CAPACITY",
    "rack": "RACK",
}


def _trend(row: Mapping[str, Any]) -> str:
    """
    By how many offsets per second the lag of a group grows or falls.

    >>> rates = {"production_per_second": 1500.0, "consumption_per_second": 20.0, "partitions": 1}
    >>> _trend(rates), _trend(rates | {"consumption_per_second": None})
    ('+1,480/s', '?')
    """
    incoming, processed = row["production_per_second"], row["consumption_per_second"]
    if None in (incoming, processed):
        return NOTHING if row["partitions"] == 0 else UNKNOWN
    growth = brief(abs(incoming - processed))
    sign = "" if growth == "0" else "+" if incoming > processed else "-"
    return f"{sign}{growth}/s"


def _reason(row: Mapping[str, Any]) -> str:
    if row["error"]:
        return printable(f"could not be read: {row['error']}")
    return text(row["diagnosis_reason"])


def _diagnosis(row: Mapping[str, Any]) -> Diagnosis:
    return Diagnosis(row["diagnosis"] or Diagnosis.UNKNOWN)


COLUMNS: Sequence[Shown] = (
    ("GROUP", lambda row: cut_to(text(row["group_id"]), MOST_NAME)),
    ("DIAGNOSIS", lambda row: _diagnosis(row).value),
    *short(GroupMetrics, {"total_lag": "LAG", "delay_seconds": "BEHIND"}),
    (">TREND", _trend),
    *short(
        GroupMetrics,
        {"members": "MEMBERS", "production_per_second": "IN", "consumption_per_second": "OUT"},
    ),
    ("WHY", _reason),
)
"""Headings of the groups, and their cells."""

FIRST = ("GROUP", "DIAGNOSIS", "LAG", "BEHIND", "TREND", "MEMBERS", "WHY", "IN", "OUT")
"""The same columns; those that come first stay where there is little room."""


def widths(natural: Mapping[str, int], width: int) -> dict[str, int]:
    """
    The columns for which a screen has room, and their widths.

    Args:
        natural: Width of each column with nothing cut.
        width: Columns of the screen.

    >>> natural = {"GROUP": 40, "DIAGNOSIS": 13, "LAG": 5, "BEHIND": 7, "TREND": 6, "MEMBERS": 7, "WHY": 60, "IN": 4}
    >>> widths(natural, 80)["GROUP"], sorted(widths(natural, 40)), widths(natural, 160)["WHY"]
    (32, ['DIAGNOSIS', 'GROUP', 'LAG'], 60)
    """
    least = {**natural, "GROUP": min(natural["GROUP"], LEAST_NAME)}
    least["WHY"] = min(natural["WHY"], REASON)
    kept: dict[str, int] = {}
    room = width
    for heading in FIRST:
        if heading == "WHY":
            # a name is worth more than all that follows
            room -= min(natural["GROUP"], WHOLE_NAME) - least["GROUP"]
        if heading in least and sum(kept.values()) + least[heading] + GAP * len(kept) <= room:
            kept[heading] = least[heading]
    spare = width - sum(kept.values()) - GAP * (len(kept) - 1)
    for heading in ("GROUP", "WHY"):
        if heading in kept:
            more = max(min(natural[heading] - kept[heading], spare), 0)
            kept[heading] += more
            spare -= more
    return kept


def page(seen: Seen, state: TopState, width: int, height: int) -> Page:
    """What of a snapshot is on a screen."""
    groups = [row["group_id"] for row in seen.groups if state.lists(row["group_id"])]
    rows = max(height - HEAD - FOOT - (not state.is_open), 1)
    lines = len(_opened(seen, state.group, width)) if state.is_open else 0
    return Page(groups=groups, rows=rows, lines=lines)


def picture(
    watch: Watch, seen: Seen, state: TopState, now: datetime, width: int, height: int
) -> Layout:
    """
    The whole screen.

    Args:
        watch: How often it looks for a snapshot, and why there is no newer one.
        seen: The snapshot that is drawn; *watch* may have a newer one meanwhile.
        state: What of it is shown.
        now: The time.
        width: Columns of the screen.
        height: Lines of the screen.
    """
    shown = page(seen, state, width, height)
    if state.is_open:
        lines = _opened(seen, state.group, width)
        body: Group | Grid | Text = Group(*lines[state.first : state.first + shown.rows])
    else:
        body = _listed(seen, state, shown, width)
    layout = Layout()
    layout.split_column(
        Layout(_fitted(_head(watch, seen, now), width), size=HEAD),
        Layout(body),
        Layout(_fitted(_foot(seen, state, shown, width), width), size=FOOT),
    )
    return layout


def _fitted(lines: Sequence[Text], width: int) -> Group:
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return Group(*lines)


def _head(watch: Watch, seen: Seen, now: datetime) -> list[Text]:
    """The cluster; the age of its values, and what is wrong with them."""
    taken = split_snapshot_id(seen.source.newest)[1]
    age = brief_duration(max(round((now - taken).total_seconds()), 0))
    if watch.failure is not None:
        told = Text(f"These values are {age} old: {printable(watch.failure)}", style="red")
    elif seen.problems:
        what = f"{printable(seen.problems[0])}{and_more(len(seen.problems) - 1)}"
        told = Text(f"{age} ago; not read: {what}", style="yellow")
    else:
        every = f", every {brief_duration(watch.every)}" if seen.source.is_live else ""
        snapshots = several(seen.snapshots, "snapshot")
        told = Text(f"{moment(taken)}, {age} ago; {snapshots}{every}", style="dim")
    return [Text(_counts(seen), style="bold"), told]


@functools.lru_cache(maxsize=1)
def _counts(seen: Seen) -> str:
    """The cluster, and how its groups are."""
    behind = sum(is_behind(row, seen.source.settings) for row in seen.groups)
    unknown = sum(row["total_lag"] is None for row in seen.groups)
    lag = brief(sum(row["total_lag"] or 0 for row in seen.groups))
    lag = UNKNOWN if unknown == len(seen.groups) else lag
    lag += f" (unknown: {unknown:,})" if unknown else ""
    groups = several(len(seen.groups), "group")
    return f"Cluster {text(seen.source.cluster)}: {groups}, {behind:,} behind, lag {lag}"


def _listed(seen: Seen, state: TopState, shown: Page, width: int) -> Grid | Text:
    """The groups around the selected one, as many as there is room for."""
    if not shown.groups:
        return Text(f"No group contains {state.name!r}.")
    whole, natural = _cells(seen)
    wide = widths(natural, width)
    grid = Grid(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="bold")
    for heading in whole.headings:
        if (name := plain_heading(heading)) in wide:
            grid.add_column(
                name,
                width=wide[name],
                justify="right" if heading.startswith(">") else "left",
                no_wrap=True,
                overflow="ellipsis",
            )
    listed = [n for n, row in enumerate(seen.groups) if state.lists(row["group_id"])]
    place = state.place(shown.groups)
    first = max(min(place - shown.rows // 2, len(listed) - shown.rows), 0)
    for number in listed[first : first + shown.rows]:
        diagnosis = _diagnosis(seen.groups[number])
        color = "red" if diagnosis.is_critical else _STYLES.get(diagnosis, "yellow")
        cells = dict(zip(natural, whole.rows[number], strict=True))
        cells["GROUP"] = cut_to(cells["GROUP"], wide["GROUP"])
        grid.add_row(
            *(
                Text(cells[name], style=color if name == "DIAGNOSIS" else "")
                for name in natural
                if name in wide
            ),
            style="reverse" if number == listed[place] else "",
        )
    return grid


@functools.lru_cache(maxsize=1)
def _cells(seen: Seen) -> tuple[Table, Mapping[str, int]]:
    """All groups, and the widths of their columns, which stay the same while the list is scrolled."""
    whole = table(COLUMNS, seen.groups)
    names = map(plain_heading, whole.headings)
    columns = zip(names, zip(*whole.rows, strict=True), strict=True)
    return whole, {name: max(map(cell_len, (name, *cells))) for name, cells in columns}


@functools.lru_cache(maxsize=1)
def _opened(seen: Seen, group: str | None, width: int) -> Sequence[Text]:
    """A group, its members and its partitions as lines."""
    heads = [row for row in seen.groups if row["group_id"] == group]
    if not heads:
        return [Text(f"{text(group)} is not in the newest snapshot.")]
    members = seen.members.filter(seen.members["group_id"].equal(group)).to_pylist()
    names = short_names([record_of(MemberMetrics, row) for row in members])
    partitions = [
        row for row in seen.partitions if row["group"] == group and row["partition"] is not None
    ]
    partitions.sort(key=largest_lag)
    columns: list[Shown] = [
        ("MEMBER", lambda row: text(names[row["member_id"]])),
        (">UTILIZATION", lambda row: or_unknown(utilization)(row["utilization"])),
        *short(MemberMetrics, _MEMBER),
    ]
    members.sort(key=lambda row: (-(row["lag"] or 0), names[row["member_id"]]))
    lines = [Text(each) for line in about(heads[0], None, acts=True) for each in wrap(line, width)]
    tables = [
        table(columns, members, spare=["RACK", "CAPACITY"]),
        partition_table(partitions, partitions, names),
    ]
    tables = [each for each in tables if each.rows]
    for each in tables:
        drawn = lay_out(each, width)
        told = [line for line in drawn if not (line and line[0].text.startswith(LEFT_OUT))]
        lines += [Text(""), *map(colored, told)] if told else []
    headings = {heading for each in tables for heading in each.headings}
    rates = RATES if ">IN" in headings else ""
    rates = f"CAPACITY, {RATES}" if ">CAPACITY" in headings else rates
    legend = "; ".join(filter(None, [legend_of(tables), rates]))
    return [*lines, Text(""), *(Text(each, style="dim") for each in wrap(legend, width))]


def _foot(seen: Seen, state: TopState, shown: Page, width: int) -> list[Text]:
    """Why the selected group is where it is; the keys, and what is seen with them."""
    reason, meaning = "", ""
    if state.is_open:
        keys = "↑↓ scroll  Esc back  q quit"
        below = max(shown.lines - shown.rows - state.first, 0)
        meaning = f"{several(below, 'line')} below" if below else ""
    elif state.is_typing:
        keys = f"/{state.name}█  Enter keep  Esc clear"
    else:
        keys = "↑↓ move  Enter open  / filter  q quit"
        keys += f"  Esc clear /{state.name}" if state.name else ""
        meaning = f"lag TREND, {RATES}; ? unknown"
    if not state.is_open and shown.groups:
        selected = shown.groups[state.place(shown.groups)]
        [row] = (row for row in seen.groups if row["group_id"] == selected)
        reason = _reason(row)
        reason = f"{text(selected)}: {_diagnosis(row).value if reason == NOTHING else reason}"
    room = width - cell_len(keys)
    keys += meaning.rjust(room) if cell_len(meaning) + GAP <= room else ""
    return [Text(reason), Text(keys, style="dim")]
