"""
The HTML file of a report, which is self-contained and makes no network requests.

Names of groups, topics and members are untrusted, so the template escapes them. Chart data is embedded as data, never
as a script, and the content security policy allows no other script and no request.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from ..model.assignments import Verdict
from ..model.formats import (
    clock,
    difference,
    duration,
    measured,
    moment,
    number,
    or_unknown,
    percent,
    record_rate,
    size,
    utilization,
)
from ..model.states import CAPACITY, WORST_FIRST, Diagnosis, Readiness
from ..model.text import group_name, printable, report_place, sentence, several
from .series import chart_data
from .values import FleetReport, GroupReport, ProtocolReadiness, Rehearsal, came_as_forecast

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = ("report.html", "group.html", "text.html", "racks.html", "readiness.html")

MEMBERS_SHOWN = 12
MOVES_SHOWN = 12
HAPPENINGS_SHOWN = 30
REBALANCES_SHOWN = 8
SNAPSHOTS_SHOWN = 48
"""Maximum number of entries of each kind; the page counts the omitted ones."""

PROMISES_SHOWN = 60
WITHHELD_SHOWN = 30
ERROR_LENGTH = 300
"""Maximum number of characters of the error of a step."""

WITHOUT_RACK_SHOWN = 20
REASONS_SHOWN = 6
NAMES_SHOWN = 5
"""Maximum number of groups per lost rack, of reasons, and of groups per reason."""

READINESS_SHOWN = 100
"""Maximum number of groups that may move to the consumer protocol."""

REASON_LENGTH = 600
"""Maximum number of characters of the reason that a strategy is not available."""

MEASURES = {
    "delay_seconds": "time behind",
    "utilization": "utilization of the busiest member",
    "cross_rack_share": "cross-rack share",
}
"""Names of forecast measures that differ from the columns."""

MOST_BYTES = 4_800_000
"""Maximum size of the file, for mail. Groups beyond it are shown in brief."""

BRIEF_BYTES = 1_800
"""Approximate size of a group in brief."""

FULL = 200
"""With more groups, each one shows a third of the entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """
    Other pages that a served page links to, at `text.report_place`.

    Attributes:
        clusters: Names of the clusters with pages.
        alone: Whether it is the page of one group.
        most: Maximum number of groups on the page, worst first; the others have pages of their own.
    """

    clusters: Sequence[str] = ()
    alone: bool = False
    most: int = 1_000


def render(fleet: FleetReport, served: Served | None = None) -> str:
    """
    Render the file.

    Args:
        fleet: The report.
        served: The other pages; None for a standalone file.
    """
    diagnoses, verdicts, everyone = _diagnoses(fleet), _verdicts(fleet), len(fleet.groups)
    if served is not None:
        fleet = replace(fleet, groups=fleet.groups[: served.most])
    style, scripts = _style(), _scripts()
    data = chart_data(fleet)
    racks = "" if fleet.rehearsal is None else _racks(fleet.rehearsal)
    ready = "" if fleet.readiness is None else _readiness(fleet.readiness)
    sections = (racks.encode(), ready.encode())
    room = MOST_BYTES - len(json.dumps(data)) - sum(map(len, (style, *scripts, *sections)))
    age = (fleet.made_at - fleet.taken_at[-1]).total_seconds() if fleet.taken_at else None
    return (
        _environment()
        .get_template("report.html")
        .render(
            fleet=fleet,
            groups=list(_groups(fleet, room, served)),
            served=served,
            style=style,
            scripts=scripts,
            policy=policy(),
            data=data,
            racks=racks,
            readiness=ready,
            diagnoses=diagnoses,
            everyone=everyone,
            age=age,
            verdicts=verdicts,
            kept=came_as_forecast(fleet.scorecard),
            replayed=("lag", "delay_seconds"),
            snapshots_shown=SNAPSHOTS_SHOWN,
            promises_shown=PROMISES_SHOWN,
            withheld_shown=WITHHELD_SHOWN,
            happenings_shown=HAPPENINGS_SHOWN,
            error_length=ERROR_LENGTH,
        )
    )


def notice(title: str, lines: Sequence[str], ways: Mapping[str, str] | None = None) -> str:
    """
    A page without a report, with the reason.

    Args:
        title: The problem.
        lines: Details.
        ways: Links: text and URL.
    """
    return _text(title, ways, lines=lines)


def document(title: str, body: str, ways: Mapping[str, str] | None = None) -> str:
    """
    A page of text.

    Args:
        title: Its title.
        body: Its text, as HTML that is safe.
        ways: Where to go from here: what that is called, and its address.
    """
    return _text(title, ways, body=body)


def _text(
    title: str, ways: Mapping[str, str] | None, *, lines: Sequence[str] = (), body: str = ""
) -> str:
    template = _environment().get_template("text.html")
    filled = {"title": title, "lines": lines, "body": body, "ways": ways or {}}
    return template.render(filled, style=_style(), policy=policy())


def _racks(rehearsal: Rehearsal) -> str:
    """The section about the loss of each rack."""
    return (
        _environment()
        .get_template("racks.html")
        .render(
            rehearsal=rehearsal,
            groups_shown=WITHOUT_RACK_SHOWN,
            reasons_shown=REASONS_SHOWN,
            names_shown=NAMES_SHOWN,
            reason_length=ERROR_LENGTH,
        )
    )


def _readiness(readiness: ProtocolReadiness) -> str:
    """The section about the consumer protocol."""
    counts = Counter(row.readiness for row in readiness.groups)
    quiet = (Readiness.MOVED, Readiness.NOT_APPLICABLE)
    return (
        _environment()
        .get_template("readiness.html")
        .render(
            readiness=readiness,
            counts=[(kind, counts[kind]) for kind in Readiness if counts[kind]],
            rows=[row for row in readiness.groups if row.readiness not in quiet],
            shown=READINESS_SHOWN,
            reason_length=ERROR_LENGTH,
        )
    )


def _groups(fleet: FleetReport, room: int, served: Served | None) -> Iterator[str]:
    """Each group in full, as long as the size allows all others in brief."""
    template = _environment().get_template("group.html")
    few = 1 if len(fleet.groups) <= FULL else 3
    limits = {
        "members_shown": MEMBERS_SHOWN // few,
        "moves_shown": MOVES_SHOWN // few,
        "happenings_shown": HAPPENINGS_SHOWN // few,
        "rebalances_shown": REBALANCES_SHOWN // few,
        "reason_length": REASON_LENGTH // few,
    }
    brief = False
    for at, group in enumerate(fleet.groups):
        place = report_place(fleet.cluster, group.group_id) if served and not served.alone else None
        context: dict[str, Any] = {
            **limits,
            "group": group,
            "number": at,
            "own_page": place,
            "alone": served is not None and served.alone,
        }
        page = template.render(brief=brief, **context)
        others = BRIEF_BYTES * (len(fleet.groups) - at - 1)
        if not brief and len(page.encode()) + others > room:
            brief = True
            page = template.render(brief=brief, **context)
        room -= len(page.encode())
        yield page


@cache
def policy() -> str:
    """The content security policy of a page: only its own scripts and style."""
    allowed = " ".join(_digest(each) for each in _scripts())
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_digest(_style())}; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(content: str) -> str:
    value = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
    return f"'sha256-{value}'"


def _style() -> str:
    return _part("uplot.css") + _part("report.css")


def _scripts() -> tuple[str, str]:
    """The chart library with its license, and the script of the report."""
    return f"/*\n{_part('uplot.LICENSE')}*/\n{_part('uplot.js')}", _part("report.js")


@cache
def _part(name: str) -> str:
    return (resources.files(__package__) / "page" / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    from jinja2 import DictLoader, Environment, StrictUndefined

    environment = Environment(
        loader=DictLoader({name: _part(name) for name in TEMPLATES}),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        # what is safe is markup
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    environment.filters |= {
        "number": number,
        "seconds": or_unknown(duration),
        "share": or_unknown(percent),
        "utilization": or_unknown(utilization),
        "rate": or_unknown(record_rate),
        "size": or_unknown(size),
        "sentence": lambda text: sentence(printable(text)),
        "moment": or_unknown(moment),
        "clock": clock,
        "name": or_unknown(printable),
        "group_name": group_name,
        "several": several,
        "level": level,
        "difference": difference,
        "measured": measured,
        "measure": lambda value: MEASURES.get(value, value),
        "group_class": group_class,
    }
    environment.globals["report_place"] = report_place
    return environment


_CALM = {Diagnosis.HEALTHY: "well", Diagnosis.CATCHING_UP: "mending", Diagnosis.UNKNOWN: "unknown"}
_POOR = CAPACITY | {Diagnosis.CRASH_LOOP, Diagnosis.SCALER_FLAPPING, Diagnosis.REBALANCING}


def group_class(diagnosis: Diagnosis) -> str:
    """
    The color of a diagnosis.

    >>> group_class(Diagnosis.HEALTHY), group_class(Diagnosis.NO_MEMBERS), group_class(Diagnosis.SLOW_MEMBER)
    ('well', 'bad', 'poor')
    """
    return _CALM.get(diagnosis, "poor" if diagnosis in _POOR else "bad")


def _diagnoses(fleet: FleetReport) -> list[tuple[Diagnosis, int]]:
    """Number of groups by diagnosis, worst first, without deleted ones."""
    present: list[GroupReport] = [one for one in fleet.groups if one.gone_since is None]
    counts = Counter(each.diagnosis for each in present)
    return [(diagnosis, counts[diagnosis]) for diagnosis in WORST_FIRST if counts[diagnosis]]


def _verdicts(fleet: FleetReport) -> list[tuple[Verdict, int]]:
    """Number of groups by verdict."""
    given = Counter(one.advice.verdict for one in fleet.groups if one.advice is not None)
    return [(verdict, given[verdict]) for verdict in Verdict if given[verdict]]


def level(count: int, most: int) -> int:
    """
    The shade of a cell of a matrix, from 0 (none) to 4 (maximum).

    >>> level(0, 9), level(1, 9), level(9, 9)
    (0, 1, 4)
    """
    return 0 if not count else 1 + round(3 * count / most)
