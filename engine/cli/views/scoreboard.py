"""What `evenkeel advise` prints: the table of groups, and one group's strategies side by side."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...messages.wording import (
    and_more,
    band,
    because,
    byte_rate,
    change,
    how,
    member_names,
    money,
    several,
)
from ...metrics.racks import CENT
from ...model.assignments import Advice, Deployment, Verdict
from ...model.columns import Unit
from ...model.facts import Fact, FactKind, of_kind
from ...model.states import places_tasks
from ...model.text import pasted
from ...records import AdviceColumns, CandidateRow, GroupMetrics, record_of
from .columns import cell, cells, head, heads, pick
from .tables import Table, number, show, tell, text

if TYPE_CHECKING:
    from ..judgement import JudgedGroup

HOW_TO_GET = (
    "How to get a strategy: evenkeel elect {} --to STRATEGY (--json here has it in a sentence each)"
)

TASKS = "Task by task: evenkeel tasks {}"

MOVES_SHOWN = 20
"""As many moves fit a screen; elsewhere all are printed."""


def why(reason: str | None, yardstick: str | None, gains: str | None) -> str | None:
    """The reason of an advice, and beside it the best strategy that the group cannot deploy."""
    if yardstick is None:
        return reason
    return f"{reason}; possible, not deployable: {yardstick} ({gains})"


_OVERVIEW = pick(
    GroupMetrics,
    *("group_id", "state", "members", "partitions", "total_lag", "lag_skew", "cross_rack_share"),
    *("status", "diagnosis"),
)
_VERDICT, _WHY = pick(AdviceColumns, "verdict", "reason")


def overview(groups: Sequence[JudgedGroup]) -> Table:
    """All groups, one line each."""
    return Table(
        headings=heads([*_OVERVIEW, _VERDICT, _WHY]),
        rows=[_overview_row(one.metrics, one.advice) for one in groups],
        apart=True,
        spare=["Partitions", "Members", "Skew", "State", "Status"],
    )


def _overview_row(metrics: Mapping[str, Any], advice: Advice) -> list[str]:
    reason = why(because(advice.facts), advice.yardstick, because(advice.yardstick_facts))
    return [*cells(_OVERVIEW, metrics), cell(_VERDICT, advice.verdict.value), text(reason)]


def print_group(judged: JudgedGroup) -> None:
    """One group in full: its numbers, every strategy, the advice and what would move."""
    numbers, _ = overview([judged]).split()
    show([numbers, strategies(judged)])
    application = places_tasks(judged.metrics["group_type"], judged.metrics["assignor"])
    further = TASKS if application else HOW_TO_GET
    tell(
        [
            "",
            *cost_lines(judged.metrics),
            *advice_lines(judged),
            *move_lines(judged),
            *past_lines(judged),
            "",
            further.format(pasted(judged.advice.group)),
        ]
    )


def cost_lines(metrics: Mapping[str, Any]) -> list[str]:
    """What a group reads across racks and what that costs, where it is known; it takes two snapshots."""
    carried, cost = metrics["cross_rack_bytes_per_second"], metrics["cross_rack_cost_per_month"]
    if carried is None:
        return []
    priced = (
        ""
        if cost is None or 0 < cost < CENT
        else f", {money(cost, metrics['currency'])} in 30 days"
    )
    return [f"Read across racks: {byte_rate(carried)}{priced}"]


_STRATEGY = pick(
    CandidateRow,
    *("strategy", "deployment", "feasibility"),
    *("largest_member_lag", "lag_skew", "partition_spread", "cross_rack_share"),
    *("cross_rack_cost_per_month", "moves", "leave_moves_mean", "join_moves", "restart_moves"),
    *("drain_seconds", "reason"),
)


_AHEAD = pick(CandidateRow, "forecast_lag_low", "forecast_lag_expected", "forecast_lag_high")
_DRAINED, _RESTARTS = pick(CandidateRow, "forecast_drained_seconds_expected", "price_restarts")
_FORECAST = (">Lag in 1 h:\nexpected\n(low to high)", ">Drained\nin", head(_RESTARTS))


def strategies(judged: JudgedGroup) -> Table:
    """Every strategy of one group, the live one first; what they cost and what becomes of it where that is known."""
    currency = next((row["currency"] for row in judged.candidates if row["currency"]), None)
    shown = [c for c in _STRATEGY if currency or c.meaning.unit is not Unit.MONEY_PER_MONTH]
    *numbers, story = shown
    ahead = any(row["forecast_lag_expected"] is not None for row in judged.candidates)
    return Table(
        title=f"Strategies for {text(judged.advice.group)}",
        headings=[*heads(numbers, currency), *(_FORECAST if ahead else ()), head(story)],
        rows=[
            [*cells(numbers, row), *(_ahead(row) if ahead else ()), text(_whole_story(row))]
            for row in judged.candidates
        ],
        apart=True,
        spare=[
            "Drain time",
            *("Moves if one joins", "Moves if all restart", "Moves if one leaves"),
            *("Got by", "Spread (partitions)", "Skew", "Feasibility"),
        ],
    )


def _ahead(row: Mapping[str, Any]) -> list[str]:
    """The lag in an hour, when nothing is left, and how many restarts that takes."""
    ends = [row[spec.name] for spec in _AHEAD if row[spec.name] is not None]
    _, expected, _ = _AHEAD
    lag = band(ends, lambda offsets: number(round(offsets))) if ends else cell(expected, None, row)
    return [lag, *cells([_DRAINED, _RESTARTS], row)]


def _whole_story(row: Mapping[str, Any]) -> str:
    return ". ".join(part.rstrip(".") for part in _story_parts(row) if part)


def _story_parts(row: Mapping[str, Any]) -> list[str | None]:
    """Why it can be had or not; what is wrong with the assignment; what is proven of it; what it takes."""
    facts = [record_of(Fact, fact) for fact in row["facts"] or ()]
    found = () if row["deployment"] == Deployment.LIVE else row["findings"] or ()
    flaws = [f"Flawed: {flaw}" for flaw in found]
    open_ends = of_kind(facts, FactKind.WITHIN, FactKind.NOT_PROVEN)
    proof = row["proof"] and f"Proven{':' if open_ends else ''} {row['proof']}"
    several_steps = [
        fact
        for fact in of_kind(facts, FactKind.REPLAY)
        if fact.measure in ("warming_copies", "probing_rebalances") or (fact.after or 1) > 1
    ]
    replayed = f"Replayed as {row['replay']}" if several_steps else None
    return [row["reason"], *flaws, proof, replayed, *(row["notes"] or ())]


def advice_lines(judged: JudgedGroup) -> list[str]:
    """The verdict, how to follow it, and the yardstick."""
    advice = judged.advice
    is_told = advice.verdict is Verdict.SWITCH
    what = f"{advice.verdict.value} to {advice.strategy}" if is_told else advice.verdict.value
    lines = [f"Advice: {what}", f"  Why: {because(advice.facts)}"]
    if advice.how:
        when = "How" if is_told else "How, once that is confirmed"
        lines.append(f"  {when}: {how(advice.how)}")
    if advice.yardstick:
        lines.append(
            f"  Possible, not deployable: {advice.yardstick} ({because(advice.yardstick_facts) or '-'})"
        )
    live = [
        row["findings"] or () for row in judged.candidates if row["deployment"] == Deployment.LIVE
    ]
    found = itertools.chain(judged.metrics["findings"] or (), *live)
    lines += [f"  Finding: {finding}" for finding in found]
    return [text(line) for line in lines]


def move_lines(judged: JudgedGroup) -> list[str]:
    """What would change hands if the advice was followed."""
    moves = judged.advice.moves
    names = member_names(judged.members)

    def owner(member: str | None) -> str:
        return "nobody" if member is None else names.get(member, member)

    limit = MOVES_SHOWN if sys.stdout.isatty() else len(moves)
    lines = [
        f"  {move.topic}-{move.partition}: {change(owner(move.from_member), owner(move.to_member))}"
        for move in moves[:limit]
    ]
    if len(moves) > limit:
        lines.append(f" {and_more(len(moves) - limit)} (--json has all of them)")
    head = [f"Moves: {several(len(moves), 'partition')}"] if moves else []
    return [text(line) for line in [*head, *lines]]


def past_lines(judged: JudgedGroup) -> list[str]:
    """What changes of the group's members moved lately, and would have moved under strategies that it could run."""
    if not judged.past:
        return []
    seen = next(iter(judged.past.values()))
    came = [
        several(seen.joins, "join"),
        several(seen.leaves, "leave"),
        several(seen.restarts, "restart"),
    ]
    would = ", ".join(f"{name} {changes.would_move}" for name, changes in judged.past.items())
    head = f"Members changed: {', '.join(came)} in {several(seen.compared + 1, 'snapshot')}"
    moved = f"{several(seen.moved, 'partition')} changed owner from one to the next"
    return [head, text(f"  Moved: {moved}; would have: {would}")]
