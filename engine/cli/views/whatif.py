"""What `evenkeel whatif` prints: the group as it is, what strategies would make of it, and what was assumed."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ...messages.wording import (
    and_more,
    band,
    because,
    change,
    reasons,
    replay,
    sentence,
    several,
    words,
)
from ...model.assignments import Deployment, Feasibility
from ...model.formats import NOTHING, UNKNOWN, number
from ...pipeline.whatif import Sizes, WhatIfAnswer, WhatIfOutcome
from ...records import WhatIfRow, row_of, to_json
from .columns import cell, cells, heads, pick
from .scoreboard import MOVES_SHOWN
from .tables import Table, show, tell, text


def objects(answer: WhatIfAnswer) -> Iterator[dict[str, Any]]:
    """One object for the group as it is, and one per strategy."""
    group = answer.supposed.seen.group.group
    assumed = [words(fact) for fact in answer.assumed]
    for outcome in (answer.today, *answer.outcomes):
        yield {
            "group": group,
            **to_json(_row(outcome, answer.sizes.get(outcome.candidate.strategy))),
            "assignment": outcome.lists,
            "moved": [asdict(move) for move in outcome.moves],
            "assumed": assumed if outcome is not answer.today else [],
        }


def _row(outcome: WhatIfOutcome, sizes: Sizes | None) -> WhatIfRow:
    candidate = outcome.candidate
    return WhatIfRow(
        strategy=candidate.strategy,
        is_running=candidate.is_running,
        deployment=candidate.deployment,
        feasibility=candidate.feasibility,
        reason=reasons(candidate.reason),
        replay=replay(candidate.replay),
        members=outcome.members,
        idle_members=outcome.idle,
        partitions=outcome.partitions,
        diagnosis=outcome.diagnosed.diagnosis if outcome.diagnosed else None,
        diagnosis_reason=because(outcome.facts) or None,
        fewest_members=sizes.fewest if sizes else None,
        enough_members=sizes.enough if sizes else None,
        fewest_members_reason=because_of(sizes) if sizes else None,
        most_members=sizes.most if sizes else None,
        findings=tuple(words(flaw) for flaw in candidate.findings),
        score=candidate.score,
        forecast=candidate.forecast,
    )


def because_of(sizes: Sizes) -> str | None:
    """Why no smaller number of members keeps up, or why none is known, as a clause."""
    return "; ".join(words(fact) for fact in sizes.why) or None


def print_answer(answer: WhatIfAnswer) -> None:
    """A table, then the diagnoses, the moves, the sizes and the assumptions in sentences."""
    show([_table(answer)])
    tell(
        [
            "",
            *map(text, _diagnoses(answer)),
            *map(text, _moves(answer)),
            *map(text, _sizes(answer)),
            "Assumed:",
            *(text(f"  {sentence(words(fact))}") for fact in answer.assumed),
        ]
    )


_COUNTS = pick(WhatIfRow, "members", "partitions", "moves")
_BUSIEST, _DRAINED, _RACKS, _DIAGNOSIS = pick(
    WhatIfRow,
    "forecast_utilisation_expected",
    "forecast_drained_seconds_expected",
    "cross_rack_share",
    "diagnosis",
)
_NEEDED, _WHY = pick(WhatIfRow, "fewest_members", "reason")
_AHEAD = pick(WhatIfRow, "forecast_lag_low", "forecast_lag_expected", "forecast_lag_high")


def _table(answer: WhatIfAnswer) -> Table:
    rows = [
        (outcome, row_of(_row(outcome, answer.sizes.get(outcome.candidate.strategy))))
        for outcome in (answer.today, *answer.outcomes)
    ]
    refused = any(outcome.candidate.feasibility is Feasibility.INFEASIBLE for outcome, _ in rows)
    last = heads([_WHY]) if refused else []
    return Table(
        title=f"What if: {text(answer.supposed.seen.group.group)}",
        headings=[
            "Strategy",
            *heads(_COUNTS),
            ">Busiest\nmember",
            ">Lag in 1 h:\nexpected\n(low to high)",
            ">Drained\nin",
            *heads([_RACKS]),
            ">Members\nneeded",
            "Diagnosis",
            *last,
        ],
        rows=[
            [
                _name(outcome),
                *cells(_COUNTS, row),
                *_ahead(row),
                cell(_RACKS, row[_RACKS.name], row),
                _needed(answer, outcome),
                cell(_DIAGNOSIS, row[_DIAGNOSIS.name], row) if outcome.diagnosed else NOTHING,
                *([_refusal(outcome)] if refused else []),
            ]
            for outcome, row in rows
        ],
        apart=refused,
        spare=["Drained in", "Partitions", "Members needed", "Cross rack"],
    )


def _name(outcome: WhatIfOutcome) -> str:
    candidate = outcome.candidate
    if candidate.deployment is Deployment.LIVE:
        return "(as it is)"
    return text(candidate.strategy) + (" (runs)" if candidate.is_running else "")


def _refusal(outcome: WhatIfOutcome) -> str:
    why = outcome.candidate
    return text(reasons(why.reason)) if why.feasibility is Feasibility.INFEASIBLE else ""


def _ahead(row: Mapping[str, Any]) -> list[str]:
    """How busy the busiest member is, the lag in an hour, and when nothing is left; all unknown, or none of them."""
    if row["moves"] is None:
        return [NOTHING] * 3
    if row["forecast_lag_expected"] is None:
        return [UNKNOWN] * 3
    busiest = row[_BUSIEST.name]
    ends = [row[spec.name] for spec in _AHEAD]
    return [
        UNKNOWN if busiest is None else cell(_BUSIEST, busiest, row),
        band(ends, lambda offsets: number(round(offsets))),
        cell(_DRAINED, row[_DRAINED.name], row),
    ]


def _needed(answer: WhatIfAnswer, outcome: WhatIfOutcome) -> str:
    sizes = answer.sizes.get(outcome.candidate.strategy)
    if sizes is None:
        return NOTHING
    return NOTHING if sizes.keeps_up is False else number(sizes.fewest)


def _diagnoses(answer: WhatIfAnswer) -> list[str]:
    """What is the matter now, and what would be, strategies of which the same is said together."""
    alike: dict[str, list[str]] = {}
    for outcome in answer.outcomes:
        if outcome.diagnosed:
            alike.setdefault(_diagnosed(outcome), []).append(outcome.candidate.strategy)
    return [
        f"Now: {_diagnosed(answer.today)}",
        *(f"{', '.join(names)}: {said}" for said, names in alike.items()),
    ]


def _diagnosed(outcome: WhatIfOutcome) -> str:
    assert outcome.diagnosed is not None
    why = because(outcome.facts)
    return f"{outcome.diagnosed.diagnosis.value}{f' ({why})' if why else ''}"


def _moves(answer: WhatIfAnswer) -> list[str]:
    """What would change hands with the first strategy: the one that the group runs, where that is asked."""
    [first] = answer.outcomes[:1] or [answer.today]
    if not first.moves:
        return []
    names = answer.supposed.names
    limit = MOVES_SHOWN if sys.stdout.isatty() else len(first.moves)

    def owner(member: str | None) -> str:
        return "nobody" if member is None else names.get(member, member)

    lines = [
        f"  {move.topic}-{move.partition}: {change(owner(move.from_member), owner(move.to_member))}"
        for move in first.moves[:limit]
    ]
    if len(first.moves) > limit:
        lines.append(f" {and_more(len(first.moves) - limit)} (--json has all of them)")
    return [
        f"Changes hands with {first.candidate.strategy}: {several(len(first.moves), 'partition')}",
        *lines,
    ]


def _sizes(answer: WhatIfAnswer) -> Sequence[str]:
    """How many members are enough, and how many too many, with the first strategy that says so."""
    name, sizes = next(iter(answer.sizes.items()), (None, None))
    if sizes is None:
        return []
    now = f"of {several(answer.today.members, 'member')} now, with {name}"
    why = because_of(sizes)
    fewest = "none" if sizes.keeps_up is False else "unknown"
    if sizes.fewest is not None:
        fewest, why = f"{sizes.fewest:,}", why and f"with fewer, {why}"
    elif sizes.enough is not None:
        fewest = f"unknown, {sizes.enough:,} at most"
    most = "unknown" if sizes.most is None else f"{sizes.most:,}"
    shared = several(answer.outcomes[0].partitions, "partition")
    return [
        f"Smallest number of members that keeps up: {fewest} ({now})" + (f": {why}" if why else ""),
        f"Largest number of members of which none is idle: {most} ({now}, on {shared})",
    ]
