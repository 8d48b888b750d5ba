"""The strategies of one group: what it has, what it can have at which cost, and what it cannot have, by the reason."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ...advice.rollout import Restart
from ...messages.wording import forecasts
from ...model.assignments import ABLE, Deployment, Feasibility
from ...model.command import command
from ...model.errors import EvenkeelError
from ...model.facts import Fact, FactKind, of_kind
from ...model.formats import NOTHING, UNKNOWN, brief, change, or_unknown
from ...model.text import cut, several
from ...pipeline.rollout import SwitchCost, cost_of, rollout_of
from ...records import CandidateRow, record_of
from .columns import Shown, short, table
from .fleet import current
from .tables import Table, tell, text

if TYPE_CHECKING:
    from ...config import Settings
    from ...snapshots.groups_with_past import GroupWithPast
    from ..local_mode import JudgedGroup

NAME = 24
"""As many characters of a strategy's name are shown in the table."""

AHEAD, CAUGHT_UP = ">LAG IN 1 H (p10-p90)", ">CAUGHT UP"

_MORE = {Deployment.CLASS: " + class", Deployment.PLAN: " + plan"}
"""What a strategy requires in addition to restarts."""

Row = Mapping[str, Any]


def strategies(one: JudgedGroup, settings: Settings, selection: GroupWithPast) -> Table:
    """The current assignment and each available strategy: cost and effect."""
    live = [row for row in one.candidates if row["deployment"] == Deployment.LIVE]
    runs = current(one)
    there = [row for row in able(one) if _is_there(row, runs)]
    rows = [*live, *(row for row in able(one) if row not in there)]
    costs = {row["strategy"]: _way(settings, selection, row) for row in able(one)}
    foreseen = any(row["forecast_lag_expected"] is not None for row in rows)
    racks = any(row["cross_rack_share"] is not None for row in rows)
    member_lag, across, moves = short(
        CandidateRow,
        {
            "largest_member_lag": "MAX MEMBER LAG",
            "cross_rack_share": "X-RACK",
            "moves": "MOVES",
        },
    )

    def available(row: Row) -> str:
        if row["feasibility"] == Feasibility.AVAILABLE:
            return "yes"
        cost = costs[row["strategy"]]
        how = (cost and restarted(cost)) or "needs restart"
        more = _MORE.get(row["deployment"])
        return f"{how.replace('rolling ', '')}{more}" if more else how

    def restarts(row: Row) -> str:
        if row["deployment"] == Deployment.LIVE:
            return NOTHING
        cost = costs[row["strategy"]]
        return UNKNOWN if cost is None else brief(cost.restarts)

    columns: list[Shown] = [
        *(("STRATEGY", lambda row: strategy_name(row, runs)), ("AVAILABLE", available)),
        *([(AHEAD, lag_ahead), (CAUGHT_UP, caught_up)] if foreseen else []),
        *(member_lag, *([across] if racks else []), moves),
        (">RESTARTS", restarts),
    ]
    return table(columns, rows, spare=["X-RACK", "CAUGHT UP", "MAX MEMBER LAG"])


def able(one: JudgedGroup) -> list[Row]:
    """The rows of strategies that the group can have, the present assignment left out."""
    return [
        row
        for row in one.candidates
        if row["feasibility"] in ABLE and row["deployment"] != Deployment.LIVE
    ]


def _is_there(row: Row, runs: str | None) -> bool:
    """Whether the next rebalance under the current strategy changes nothing: then the current assignment is enough."""
    return bool(row["is_running"]) and row["strategy"] == runs and not row["moves"]


def strategy_name(row: Row, runs: str | None) -> str:
    """A strategy as tables name it, beside the current assignment of a group that *runs* one."""
    if row["deployment"] == Deployment.LIVE:
        return f"{cut(text(runs), NAME)} (current)" if runs else "current"
    again = " (rebalanced)" if row["is_running"] and row["strategy"] == runs else ""
    return f"{cut(text(row['strategy']), NAME)}{again}"


def lag_ahead(row: Row) -> str:
    """The lag in an hour with its band."""
    if row["forecast_lag_expected"] is None:
        return UNKNOWN
    return f"{brief(row['forecast_lag_expected'])} ({lag_band(row)})"


def lag_band(row: Row) -> str:
    """The lag in an hour from p10 to p90."""
    return f"{brief(row['forecast_lag_low'])}-{brief(row['forecast_lag_high'])}"


def lag_change(now: Row, then: Row) -> str | None:
    """What becomes of the lag in an hour, with its band, and when none is left; None where it is unknown."""
    rows = (now, then)
    known = [row["forecast_lag_expected"] is not None for row in rows]
    if not any(known):
        return None
    ends = [or_unknown(brief)(row["forecast_lag_expected"]) for row in rows]
    told = f"lag in 1 h {before_and_after(*ends)}"
    if all(known):
        told += f" (p10-p90: {before_and_after(*map(lag_band, rows))})"
    low, high = (then[f"forecast_drained_seconds_{end}"] for end in ("low", "high"))
    return f"{told}, {forecasts.caught_up(low, high)}" if high else told


def before_and_after(before: str, after: str) -> str:
    """
    >>> before_and_after("3", "5"), before_and_after("3", "3")
    ('3 -> 5', '3')
    """
    return before if before == after else change(before, after)


def caught_up(row: Row) -> str:
    """
    When no backlog is left, from p10 to p90.

    >>> ends = ((725, 1208), (2400, math.inf), (math.inf, math.inf), (0, math.inf), (0, 0), (None, None))
    >>> names = ("forecast_drained_seconds_low", "forecast_drained_seconds_high")
    >>> [caught_up(dict(zip(names, each))) for each in ends]
    ['12-20m', '> 40m', '> 1h', '?', '0s', '?']
    """
    low, high = (row[f"forecast_drained_seconds_{end}"] for end in ("low", "high"))
    if low is None or (low == 0 and math.isinf(high)):
        return UNKNOWN
    if math.isinf(high):
        return f"> {'1h' if math.isinf(low) else _brief_moment(low)}"
    first, last = map(_brief_moment, (low, high))
    short = first[:-1] if first[-1] == last[-1] else first
    return first if first == last else f"{short}-{last}"


def _brief_moment(seconds: float) -> str:
    return f"{seconds:.0f}s" if seconds < 60 else f"{seconds / 60:.0f}m"


def _way(settings: Settings, selection: GroupWithPast, row: Row) -> SwitchCost | None:
    group = selection.group
    try:
        rollout = rollout_of(settings, group, row["strategy"])
    except EvenkeelError:
        return None
    return cost_of(group, rollout, there=bool(row["is_running"]))


def restarted(cost: SwitchCost) -> str:
    """
    What is restarted, in a few words.

    >>> both = SwitchCost(rounds=(Restart.ROLLING, Restart.ROLLING), restarts=6, offsets=None)
    >>> restarted(both), restarted(SwitchCost(rounds=(Restart.ONE,), restarts=1, offsets=None))
    ('2 rolling restarts', '1 restart')
    """
    kinds = [
        (Restart.ROLLING, "rolling restart"),
        (Restart.ONE, "restart"),
        (Restart.ALL, "full stop and start"),
    ]
    told = [several(cost.rounds.count(kind), noun) for kind, noun in kinds if kind in cost.rounds]
    return ", ".join(told)


NEEDS_PLAN = "needs members that follow plans (evenkeel-plan)"

_WHY_NOT = {
    "leader_assigns": "needs the KIP-848 protocol (group.protocol=consumer)",
    "broker_assigns": "needs the classic protocol (group.protocol=classic)",
    "no_plan_follower": NEEDS_PLAN,
    "for_comparison": "shown for comparison, never advised",
}
"""Why a strategy cannot be had, by the first reason; others in full."""

_LONG_ASIDE = re.compile(r" \([^()]{40,}\)")


def why_not(row: Row) -> str:
    """Why the group cannot have a strategy, in short."""
    facts = [record_of(Fact, fact) for fact in row.get("facts") or ()]
    first = next((fact.measure for fact in of_kind(facts, FactKind.REASON)), "")
    said = str(row["reason"] or "").split(". ")[0]
    return _WHY_NOT.get(first) or _LONG_ASIDE.sub("", said) or "no reason given"


def show_others(rows: Iterable[Row], group: str, width: int) -> None:
    """Strategies that the group cannot have, by the reason; where they need a plan with the command that helps."""
    by_reason: dict[str, list[str]] = {}
    for row in rows:
        if row["feasibility"] not in ABLE:
            by_reason.setdefault(why_not(row), []).append(row["strategy"])
    if not by_reason:
        return
    print("\nNot available for this group:")
    for reason, names in by_reason.items():
        tell([text(f"  {', '.join(names)}: {reason}")], 2, width=width)
        if reason == NEEDS_PLAN:
            print(f"    {steps_to(names[0], group)}")


def steps_to(strategy: str, group: str) -> str:
    """The command that prints how to get to a strategy."""
    return command("evenkeel runbook --group {} --strategy {}", group, strategy)
