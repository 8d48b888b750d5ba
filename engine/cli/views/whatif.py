"""What `evenkeel whatif` prints: the group as it is, what strategies would make of it, and what was assumed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from operator import itemgetter
from typing import Any

from ...messages.wording import because, reasons, replay, sentence, several, words
from ...model.assignments import Deployment, Feasibility
from ...model.columns import columns_of
from ...model.formats import NOTHING, UNKNOWN, number, or_unknown, percent, ratio
from ...pipeline.whatif import Sizes, SupposedLoad, WhatIfAnswer, WhatIfOutcome
from ...records import WhatIfRow, row_of, to_json
from .columns import cell, head, table
from .scoreboard import AHEAD, DRAINED, lag_ahead, move_lines
from .tables import Table, show, tell, text


def objects(answer: WhatIfAnswer) -> Iterator[dict[str, Any]]:
    """One object for the group as it is, and one per strategy."""
    group = answer.supposed.seen.group.group
    assumed, lost = ([words(fact) for fact in facts] for facts in (answer.assumed, answer.lost))
    for outcome, loads in zip((answer.today, *answer.outcomes), answer.loads, strict=True):
        yield {
            "group": group,
            **to_json(_row(outcome, answer.sizes.get(outcome.candidate.strategy))),
            "assignment": outcome.lists,
            "moved": [asdict(move) for move in outcome.moves],
            "on": {member: asdict(load) for member, load in loads.items()},
            "lost": lost if outcome is not answer.today else [],
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
    [first] = answer.outcomes[:1] or [answer.today]
    changes = f"Changes hands with {first.candidate.strategy}"
    show([_table(answer), *([_members(answer)] if answer.supposed.layout.left.racks else [])])
    tell(
        [
            "",
            *map(text, _diagnoses(answer)),
            *move_lines(changes, first.moves, answer.supposed.names),
            *map(text, _sizes(answer)),
            *(text(sentence(words(fact))) for fact in answer.lost),
            "Assumed:",
            *(text(f"  {sentence(words(fact))}") for fact in answer.assumed),
        ]
    )


_Line = tuple[WhatIfOutcome, Mapping[str, Any]]
"""An outcome, and its row."""

_COLUMNS = {spec.name: spec for spec in columns_of(WhatIfRow)}


def _told(name: str, row: Mapping[str, Any]) -> str:
    return cell(_COLUMNS[name], row[name], row)


def _forecast(told: Callable[[Mapping[str, Any]], str]) -> Callable[[_Line], str]:
    """What is to come: all of it is unknown, or none."""

    def said(line: _Line) -> str:
        row = line[1]
        if row["moves"] is None:
            return NOTHING
        return UNKNOWN if row["forecast_lag_expected"] is None else told(row)

    return said


def _refusal(line: _Line) -> str:
    why = line[0].candidate
    return text(reasons(why.reason)) if why.feasibility is Feasibility.NOT_APPLICABLE else ""


def _table(answer: WhatIfAnswer) -> Table:
    rows = [
        (one, row_of(_row(one, answer.sizes.get(one.candidate.strategy))))
        for one in (answer.today, *answer.outcomes)
    ]
    refused = any(map(_refusal, rows))

    def busiest(row: Mapping[str, Any]) -> str:
        used = "forecast_utilisation_expected"
        return UNKNOWN if row[used] is None else _told(used, row)

    def diagnosis(line: _Line) -> str:
        outcome, row = line
        return _told("diagnosis", row) if outcome.diagnosed else NOTHING

    def needed(line: _Line) -> str:
        sizes = answer.sizes.get(line[0].candidate.strategy)
        return NOTHING if sizes is None or sizes.keeps_up is False else number(sizes.fewest)

    return table(
        [
            ("Strategy", lambda line: _title(line[0])),
            *(_COLUMNS[name] for name in ("members", "partitions", "moves")),
            (">Busiest\nmember", _forecast(busiest)),
            (AHEAD, _forecast(lag_ahead)),
            (DRAINED, _forecast(partial(_told, "forecast_drained_seconds_expected"))),
            _COLUMNS["cross_rack_share"],
            (head(_COLUMNS["fewest_members"]), needed),
            (head(_COLUMNS["diagnosis"]), diagnosis),
            *([(head(_COLUMNS["reason"]), _refusal)] if refused else []),
        ],
        rows,
        stored=itemgetter(1),
        title=f"What if: {text(answer.supposed.seen.group.group)}",
        apart=refused,
        spare=["Drained in", "Partitions", "Members needed", "Cross rack"],
    )


def _members(answer: WhatIfAnswer) -> Table:
    """Each member with what it has now, and with each strategy, those that leave included."""
    supposed, every = answer.supposed, (answer.today, *answer.outcomes)
    members = {one.id: one for one in (*supposed.seen.group.members, *supposed.group.members)}

    def told(loads: Mapping[str, SupposedLoad], member: str) -> str:
        load = loads.get(member)
        if load is None:
            return NOTHING
        rate, used = or_unknown(ratio)(load.per_second), or_unknown(percent)(load.utilisation)
        return f"{number(load.partitions)} ({rate}/s, {used})"

    return table(
        [
            ("Member", lambda member: text(supposed.names[member])),
            ("Rack", lambda member: text(members[member].rack, UNKNOWN)),
            *(
                (f">{_title(one)}", lambda member, loads=loads: told(loads, member))
                for one, loads in zip(every, answer.loads, strict=True)
                if loads
            ),
        ],
        list(members),
        title="Members: partitions, what arrives, and its share of what a member can do",
    )


def _title(outcome: WhatIfOutcome) -> str:
    candidate = outcome.candidate
    if candidate.deployment is Deployment.LIVE:
        return "(as it is)"
    return text(candidate.strategy) + (" (runs)" if candidate.is_running else "")


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
