"""What `evenkeel advise --wide` prints: all columns of the groups, or one group's strategies side by side."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...messages.wording import (
    and_more,
    because,
    byte_rate,
    change,
    how,
    member_names,
    money,
    possible,
    several,
)
from ...metrics.racks import CENT
from ...model.assignments import Advice, Deployment, Move, Verdict
from ...model.columns import ColumnSpec, Unit
from ...model.command import command_in_text
from ...model.facts import Fact, FactKind, of_kind
from ...model.states import places_tasks
from ...records import AdviceColumns, CandidateRow, GroupMetrics, record_of
from .columns import head, pick, table
from .fleet import Recommendation, recommendation
from .tables import Table, show, tell, text

if TYPE_CHECKING:
    from ..local_mode import JudgedGroup

HOW_TO_GET = "How to get a strategy: {} (--json here has it in a sentence each)"

TASKS = (
    "What moves if one leaves or joins, or all restart: tasks, of whole instances. Task by task: {}"
)

MOVES_SHOWN = 20
"""As many moves fit a screen; elsewhere all are printed."""

_OVERVIEW = [
    *pick(GroupMetrics, "group_id", "state", "members", "partitions", "total_lag", "lag_skew"),
    *pick(GroupMetrics, "cross_rack_share", "status", "diagnosis"),
    *pick(AdviceColumns, "verdict", "reason"),
]
_STRATEGY = pick(
    CandidateRow,
    *("strategy", "deployment", "feasibility"),
    *("largest_member_lag", "lag_skew", "partition_spread", "cross_rack_share"),
    *("cross_rack_cost_per_month", "moves", "leave_moves_mean", "join_moves", "restart_moves"),
    "stores_in_one_rack",
    "drain_seconds",
)
_FORECAST = (
    *("forecast_lag_low", "forecast_lag_expected", "forecast_lag_high"),
    *("forecast_drained_seconds_low", "forecast_drained_seconds_high", "price_restarts"),
)


def why(advice: Advice) -> str:
    """The reason of an advice, and beside it the best strategy that the group cannot or may not deploy."""
    return "; ".join([because(advice.facts), *undeployable(advice)])


def undeployable(advice: Advice) -> list[str]:
    """The best strategy that a group cannot or may not deploy, and what it would bring; nothing where there is none."""
    if advice.best_undeployable is None:
        return []
    facts = advice.best_undeployable_facts
    return [f"{possible(facts)}: {advice.best_undeployable} ({because(facts) or '-'})"]


def overview(groups: Sequence[JudgedGroup]) -> Table:
    """All groups, one line each."""

    def row(one: JudgedGroup) -> Mapping[str, Any]:
        advice = one.advice
        pending = recommendation(advice) is Recommendation.PENDING
        verdict = "pending" if pending else advice.verdict.value
        return {**one.metrics, "verdict": verdict, "reason": why(advice)}

    return table(_OVERVIEW, groups, stored=row)


def print_group(judged: JudgedGroup) -> None:
    """One group in full: its numbers, every strategy, the advice and what would move."""
    numbers, _ = overview([judged]).split()
    show([numbers, strategies(judged)], wide=True)
    further, words = HOW_TO_GET, "evenkeel elect --group {} --to STRATEGY"
    if is_application(judged):
        further, words = TASKS, "evenkeel tasks --group {}"
    tell(
        [
            "",
            *cost_lines(judged.metrics),
            *advice_lines(judged),
            *move_lines("Moves", judged.advice.moves, member_names(judged.members)),
            *past_lines(judged),
            "",
            further.format(command_in_text(words, judged.advice.group)),
        ]
    )


def is_application(judged: JudgedGroup) -> bool:
    """Whether a group is a Kafka Streams application."""
    return places_tasks(judged.metrics["group_type"], judged.metrics["assignor"])


def cost_lines(metrics: Mapping[str, Any]) -> list[str]:
    """What a group reads across racks and what that costs, where it is known; it takes two snapshots."""
    carried, cost = metrics["cross_rack_bytes_per_second"], metrics["cross_rack_cost_per_month"]
    if carried is None:
        return []
    told = cost is not None and not 0 < cost < CENT
    priced = f", {money(cost, metrics['currency'])} in 30 days" if told else ""
    return [f"Read across racks: {byte_rate(carried)}{priced}"]


def strategies(judged: JudgedGroup) -> Table:
    """Every strategy of one group, the live one first; what they cost and what becomes of it where that is known."""
    rows = judged.candidates
    currency = next((row["currency"] for row in rows if row["currency"]), None)
    foreseen = any(row["forecast_lag_expected"] is not None for row in rows)
    (reason,) = pick(CandidateRow, "reason")
    return table(
        [
            *(c for c in _STRATEGY if _tells(c, rows)),
            *(pick(CandidateRow, *_FORECAST) if foreseen else ()),
            (head(reason), _whole_story),
        ],
        rows,
        currency=currency,
        title=f"Strategies for {text(judged.advice.group)}",
    )


def _tells(shown: ColumnSpec, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a column is for this group: costs where there is a currency, stores where their copies are evaluated."""
    if shown.meaning.unit is Unit.MONEY_PER_MONTH:
        return any(row["currency"] for row in rows)
    of_stores = shown.name == "stores_in_one_rack"
    return not of_stores or any(row["stores_judged"] is not None for row in rows)


def _whole_story(row: Mapping[str, Any]) -> str:
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
    parts = [row["reason"], *flaws, proof, replayed, *(row["notes"] or ())]
    return text(". ".join(part.rstrip(".") for part in parts if part))


def advice_lines(judged: JudgedGroup) -> list[str]:
    """The verdict, how to follow it, and the best that cannot be deployed."""
    advice = judged.advice
    is_told = advice.verdict is Verdict.SWITCH
    pending = recommendation(advice) is Recommendation.PENDING
    to = f"switch to {advice.strategy}{' (pending)' if pending else ''}"
    what = to if is_told or pending else advice.verdict.value
    lines = [f"Advice: {what}", f"  Why: {because(advice.facts)}"]
    if advice.how:
        when = "How" if is_told else "How, once that is confirmed"
        lines.append(f"  {when}: {how(advice.how) or ''}")
    lines += [f"  {each[0].upper()}{each[1:]}" for each in undeployable(advice)]
    lines += [f"  Finding: {each}" for each in findings(judged)]
    return [text(line) for line in lines]


def findings(judged: JudgedGroup) -> list[str]:
    """What was found of a group and of its assignment."""
    live = [
        row["findings"] or () for row in judged.candidates if row["deployment"] == Deployment.LIVE
    ]
    return list(itertools.chain(judged.metrics["findings"] or (), *live))


def move_lines(heading: str, moves: Sequence[Move], names: Mapping[str, str]) -> list[str]:
    """
    Partitions that would move, as many lines as a screen has room for.

    Args:
        heading: The line above, before their number.
        moves: They; no line without any.
        names: Short names of members, by id.
    """
    if not moves:
        return []
    limit = MOVES_SHOWN if sys.stdout.isatty() else len(moves)
    lines = [f"{heading}: {several(len(moves), 'partition')}"]
    for move in moves[:limit]:
        ends = [
            "no member" if member is None else names.get(member, member)
            for member in (move.from_member, move.to_member)
        ]
        lines.append(f"  {move.topic}-{move.partition}: {change(*ends)}")
    if len(moves) > limit:
        lines.append(f" {and_more(len(moves) - limit)} (--json has all of them)")
    return [text(line) for line in lines]


def past_lines(judged: JudgedGroup) -> list[str]:
    """Moves by recent changes of members, and how many other available strategies would have made."""
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
