"""`evenkeel check-assignor`: which promises a custom strategy keeps, and the smallest group on which it does not."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...model.errors import InputError
from ...model.text import printable, several
from ..command_end import NothingFound, debugging
from ..options import AsJson, argument, epilog, option

if TYPE_CHECKING:
    from ...assignors.interface import Assignor
    from ...assignors.promises import Examined, PromiseOutcome, Sketch
    from ..views.tables import Table

EPILOG = epilog(
    [
        "evenkeel check-assignor my_company.assignors:Weighted",
        "evenkeel check-assignor path/to/weighted.py:Weighted --groups 2000 --seed 7",
        "evenkeel check-assignor path/to/weighted.py:Weighted --data '{\"weight\": 3}' --data '{}'",
        "evenkeel check-assignor path/to/weighted.py:Weighted --json | jq 'select(.outcome == \"FAIL\")'",
    ],
    [0, 1, 2],
    "Groups are random: with and without racks, static members, unequal subscriptions, earlier owners, lags and "
    "member data. The same seed gives the same groups. A failure is shown on the smallest group found, also as a case "
    "for `evenkeel assign`. The class runs in this process with your permissions. Its output is hidden unless "
    "EVENKEEL_DEBUG=1.",
)

UNKNOWN = "?"
ANSWERS = "it answers: an assignment that fits the group, or that it is infeasible"
"""What goes without saying."""


def check_assignor(
    place: Annotated[
        str,
        argument(
            "PLACE",
            "MODULE:CLASS, FILE.py:CLASS, FILE.py, or the name of an installed strategy.",
        ),
    ],
    groups: Annotated[int, option("--groups N", "Number of groups to test.", min=1)] = 300,
    seed: Annotated[int, option("--seed N", "Seed of the random groups.")] = 0,
    data: Annotated[
        list[str] | None,
        option(
            "--data JSON",
            "Member data to draw from (a JSON object; repeatable). Default: sample_user_data of the class, or "
            "weights.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Test a custom strategy on random groups."""
    from ...assignors import takes_user_data
    from ...assignors.promises import examine
    from ..custom import load
    from ..views.tables import emit

    drawn = [_object(text) for text in data] if data else None
    with contextlib.ExitStack() as stack:
        # what the class prints is no part of the answer, and thousands of lines of it are of no use
        sink = sys.stderr if debugging() else stack.enter_context(open(os.devnull, "w"))
        stack.enter_context(contextlib.redirect_stdout(sink))
        assignor = load(place)
        sent = takes_user_data(assignor)
        examined = examine(assignor, groups=groups, seed=seed, data=drawn, sent=sent)
    if as_json:
        emit(_row(assignor, one) for one in examined.outcomes)
    else:
        _report(place, assignor, examined, seed)
    if examined.broken:
        raise typer.Exit(1)
    if not examined.answered:
        raise NothingFound(
            f"{assignor.name} answered none of {groups:,} groups, so nothing is shown of it: {examined.reason}",
            fix="Give its members what it needs with --data.",
        )


def _object(text: str) -> Mapping[str, Any]:
    try:
        content = json.loads(text)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise InputError(
            f"--data {text!r} is no JSON object.", fix="Write for example '{\"weight\": 3}'."
        )
    return content


def _report(place: str, assignor: Assignor, examined: Examined, seed: int) -> None:
    from ..views.tables import Table, show, tell

    parts = [f"{several(examined.groups, 'random group')}, seed {seed}"]
    if examined.infeasible:
        parts.append(f"infeasible on {examined.infeasible:,} (first: {examined.reason})")
    if examined.flawed:
        parts.append(f"{examined.flawed:,} answers list findings, which are not held against them")
    tell([printable(f"{assignor.name} ({place}): {'; '.join(parts)}"), ""])
    rows = [
        (
            _outcome(outcome),
            _meaning(outcome),
            f"broken on {outcome.broken:,} of {outcome.checked:,}"
            if outcome.broken
            else f"kept on {outcome.checked:,}",
        )
        for outcome in examined.outcomes
    ]
    show([Table(headings=("outcome", "promise", "groups"), rows=rows)])
    for outcome in examined.broken:
        tell(["", f"FAIL: {_meaning(outcome)}"])
        if violation := outcome.violation:
            where = [f"  in {violation.where}"] if violation.where else []
            tell([printable(line) for line in (f"  {violation.what}", *where)])
        if outcome.smallest is not None:
            tell(["", "The smallest group found that shows it:", ""])
            show(list(_tables(outcome.smallest, outcome.answers)))
            case = json.dumps(outcome.smallest.case(assignor.name, "smallest"))
            print(f"\nAs a case for `evenkeel assign`:\n{case}")


def _outcome(outcome: PromiseOutcome) -> str:
    if not outcome.promised:
        return "not promised"
    return "FAIL" if outcome.broken else "OK"


def _meaning(outcome: PromiseOutcome) -> str:
    if outcome.promise is not None or outcome.means is not None:
        return outcome.means or str(outcome.promise)
    raised = outcome.violation.error if outcome.violation else None
    return f"{ANSWERS} ({raised})" if raised else ANSWERS


def _tables(sketch: Sketch, answers: Mapping[str, Mapping[str, Any]]) -> Iterator[Table]:
    """A group and what a strategy gives its members; only columns that say something."""
    from ...model.formats import NOTHING
    from ..views.tables import Table, text

    topics: dict[str, list[str | None]] = {
        "topic": [t.name for t in sketch.topics],
        ">partitions": [f"{len(t.partitions):,}" for t in sketch.topics],
        "lags": [_listed(p.lag for p in t.partitions) for t in sketch.topics],
        "racks": [_racks([p.racks for p in t.partitions]) for t in sketch.topics],
        "rates": [_listed(p.rate for p in t.partitions) for t in sketch.topics],
    }
    members: dict[str, list[str | None]] = {
        "member": [m.id for m in sketch.members],
        "subscribes to": [" ".join(m.topics) for m in sketch.members],
        "rack": [m.rack for m in sketch.members],
        "instance id": [m.instance_id for m in sketch.members],
        "owned before": [_pairs(m.owned) for m in sketch.members],
        ">generation": [
            None if m.generation is None else str(m.generation) for m in sketch.members
        ],
        "data": [_data(m.config) for m in sketch.members],
        "sent": [_data(m.sent or {}) for m in sketch.members],
    }
    for how, lists in answers.items():
        heading = f"gets, {how}" if how else "gets"
        members[heading] = [_pairs(lists[m.id]) for m in sketch.members]
    always = {"topic", ">partitions", "member", "subscribes to", "gets"}
    for columns in (topics, members):
        kept = {k: v for k, v in columns.items() if k in always or any(v)}
        cells = [[text(cell) for cell in row] for row in zip(*kept.values(), strict=True)]
        yield Table(headings=tuple(kept), rows=cells or [[NOTHING] * len(kept)])


def _listed(values: Iterable[float | None]) -> str | None:
    """Numbers in partition order; None when none is known."""
    given = list(values)
    shown = [UNKNOWN if value is None else f"{value:,g}" for value in given]
    return " ".join(shown) if any(v is not None for v in given) else None


def _racks(replicas: Sequence[Sequence[str | None]]) -> str | None:
    """The racks of each partition's replicas; None when none is known."""
    shown = ["+".join(rack or "none" for rack in racks) or UNKNOWN for racks in replicas]
    return " ".join(shown) if any(replicas) else None


def _data(data: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in data.items())


def _pairs(pairs: Sequence[tuple[str, int]]) -> str:
    return " ".join(f"{topic}-{number}" for topic, number in pairs)


def _row(assignor: Assignor, outcome: PromiseOutcome) -> dict[str, Any]:
    return {
        "strategy": assignor.name,
        "promise": outcome.promise.name.lower() if outcome.promise else None,
        "means": _meaning(outcome),
        "promised": outcome.promised,
        "outcome": _outcome(outcome),
        "checked": outcome.checked,
        "broken": outcome.broken,
        "found": outcome.violation.what if outcome.violation else None,
        "where": outcome.violation.where if outcome.violation else None,
        "case": outcome.smallest.case(assignor.name, "smallest") if outcome.smallest else None,
        "answers": {how or "as listed": lists for how, lists in outcome.answers.items()},
    }
