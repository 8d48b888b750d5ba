"""What `evenkeel advise` prints of one group: problem, advice, effect, cost and next step, then its strategies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ...advice.rollout import Restart
from ...messages.wording import because, member_names, words
from ...messages.wording.forecasts import about, pauses
from ...messages.wording.gains_and_losses import DAY
from ...messages.wording.incidents import remedy
from ...messages.wording.short_reasons import notable, says_nothing, short_reason
from ...metrics.observe import NO_OFFSET_RESET
from ...model.assignments import Advice
from ...model.command import command, command_in_text
from ...model.errors import EvenkeelError
from ...model.facts import Fact, FactKind, of_kind
from ...model.formats import (
    brief,
    change,
    duration,
    minute,
    percent,
    size,
)
from ...model.states import REBALANCING, Diagnosis
from ...model.text import several
from ...pipeline.rollout import SwitchCost, cost_of, runbook_of
from ...records import record_of
from ...records.metrics import pauses_in
from .fleet import (
    Recommendation,
    current,
    diagnosis,
    in_cluster,
    recommendation,
)
from .scoreboard import findings, is_application, move_lines, undeployable
from .strategy_table import able, lag_change, restarted, show_others, steps_to, strategies
from .tables import INDENT, Table, legend_of, screen_width, show, tell, tell_answer, text

if TYPE_CHECKING:
    from ...config import Settings
    from ...snapshots.groups_with_past import GroupWithPast
    from ..local_mode import JudgedGroup

_PROTOCOLS = {
    "classic": "classic protocol",
    "consumer": "KIP-848 protocol",
    "streams": "KIP-1071 protocol",
    "share": "share group",
}


def show_group(
    one: JudgedGroup, settings: Settings, selection: GroupWithPast, *, moves: bool = False
) -> None:
    """
    Print the problem of a group, its advice, and its strategies.

    Args:
        one: The group.
        settings: The configuration.
        selection: The same group with its past.
        moves: Whether the partitions that would move are listed.
    """
    width = screen_width()
    cost = _cost_of_advised(one, settings, selection)
    lines = [
        ("Problem", _problem(one)),
        ("Action", action_for(one.metrics)),
        ("Advice", _advice(one)),
        ("Effect", _effect(one)),
        ("Cost", _cost(one, cost)),
        ("Next", _next(one, width - INDENT)),
        *(("Finding", each) for each in findings(one)),
        *(("Possible", told.removeprefix("possible, ")) for told in undeployable(one.advice)),
    ]
    tell_answer(_headline(one, selection), lines)
    rows = strategies(one, settings, selection) if able(one) else None
    if rows is not None:
        print()
        show([rows], legend=False)
        show_others(one.candidates, one.advice.group, width)
    if moves:
        listed = move_lines("Moves", one.advice.moves, member_names(one.members))
        tell(["", *(listed or ["Nothing moves."])])
    print()
    tell(_legend(one, rows, moves=moves), width=width)


def _headline(one: JudgedGroup, selection: GroupWithPast) -> str:
    metrics, group = one.metrics, selection.group
    protocol = _PROTOCOLS.get(metrics["group_type"], f"{metrics['group_type']} type")
    parts = [
        metrics["state"],
        protocol,
        current(one),
        several(metrics["members"] or 0, "member"),
        several(metrics["partitions"] or 0, "partition"),
    ]
    known = ", ".join(text(part) for part in parts if part)
    known = "could not be read" if metrics["error"] else known
    name = in_cluster(one.advice.group, metrics["cluster"])
    return f"{name}: {known}; {minute(group.taken_at)}"


def _problem(one: JudgedGroup) -> str | None:
    what, metrics = diagnosis(one), one.metrics
    if what is Diagnosis.HEALTHY:
        return None
    reason = f": {metrics['diagnosis_reason']}" if metrics["diagnosis_reason"] else ""
    behind = metrics["delay_seconds"]
    lag = metrics["total_lag"]
    numbers = [
        *([f"{duration(behind)} behind"] if behind else []),
        *([f"lag {lag:,}"] if lag is not None else []),
    ]
    named = f"{what.value[0].upper()}{what.value[1:]}"
    return f"{named}{reason}. {_sentence(', '.join(numbers))}".strip()


def action_for(metrics: Mapping[str, Any]) -> str | None:
    """What to do about the diagnosis of a group, by its row of `group_metrics`; None where it is healthy."""
    facts = [
        fact if isinstance(fact, Fact) else record_of(Fact, fact) for fact in metrics["facts"] or ()
    ]
    return remedy(
        Diagnosis(metrics["diagnosis"] or Diagnosis.UNKNOWN), of_kind(facts, FactKind.DIAGNOSIS)
    )


def _sentence(clause: str) -> str:
    return f"{clause[0].upper()}{clause[1:]}." if clause else ""


def _advice(one: JudgedGroup) -> str:
    advice, what = one.advice, recommendation(one.advice)
    to = "Rebalance under" if advice.strategy == current(one) else "Switch to"
    if what is Recommendation.PENDING:
        return f"{to} {advice.strategy} (pending: {_pending(advice)})"
    if what is Recommendation.ADVISED:
        seen = f": would help in {several(advice.seen, 'snapshot')}" if advice.seen else ""
        return f"{to} {advice.strategy} (advised{seen})"
    kept = (
        f"Keep {current(one) or 'the assignment'}"
        if what is Recommendation.KEEP
        else "Not evaluated"
    )
    odd = one.found
    if notable(odd) and says_nothing(advice.facts):
        return f"{kept}: {short_reason(advice.facts, odd)}, see the finding"
    return f"{kept}: {because(advice.facts)}"


def _pending(advice: Advice) -> str:
    first, *others = of_kind(advice.facts, FactKind.REASON)
    of = {fact.measure: fact.after for fact in others}
    since, due = (
        f"{datetime.fromtimestamp(of.get(name) or 0, UTC):%H:%M} UTC"
        for name in ("claimed_since", "told_after")
    )
    evidence = f"evidence {first.after or 0:.0f} of {first.bound or 0:.0f} since {since}"
    return f"{evidence}; advised {due} at the earliest"


def _effect(one: JudgedGroup) -> str | None:
    if not recommendation(one.advice).is_change:
        return None
    facts = one.advice.facts
    of = {fact.measure: fact for fact in facts if fact.kind in (FactKind.GAIN, FactKind.REMARK)}
    told = []
    for gain in of_kind(facts, FactKind.GAIN):
        if gain.measure == "forecast_lag_expected":
            told.append(_lag_ahead(one, gain))
        elif not gain.measure.startswith("cross_rack"):
            told.append(words(gain))
    told += [_racks(of)] if any(name.startswith("cross_rack") for name in of) else []
    return " ".join(map(_sentence, told)) or None


def _racks(of: Mapping[str, Fact]) -> str:
    """What crosses racks before and after, and how much less that is."""
    parts = []
    if (share := of.get("cross_rack_share")) is not None:
        shares = [percent(end or 0) for end in (share.before, share.after)]
        parts.append(f"cross-rack {change(*shares)}")
    for measure, seconds, form in _SAVED:
        fact = of.get(measure)
        saved = (fact.before or 0) - (fact.after or 0) if fact is not None else 0
        if fact is not None and saved:
            each = "a day" if seconds == DAY else f"{fact.unit} a month"
            much = f"{form(abs(saved) * seconds)} {each}"
            parts.append(f"{much} {'less' if saved > 0 else 'more'}")
    return ", ".join(parts)


_SAVED: Sequence[tuple[str, int, Callable[[float], str]]] = (
    ("cross_rack_bytes_per_second", DAY, size),
    ("cross_rack_records_per_second", DAY, lambda records: f"{brief(records)} records"),
    ("cross_rack_cost_per_month", 1, brief),
)
"""What is saved, over how many seconds, and how that reads."""


def _lag_ahead(one: JudgedGroup, gain: Fact) -> str:
    rows = {row["strategy"]: row for row in one.candidates}
    live, then = rows.get("live"), rows.get(one.advice.strategy or "")
    told = lag_change(live, then) if live and then else None
    return told or f"lag in 1 h {change(brief(gain.before or 0), brief(gain.after or 0))}"


def _cost_of_advised(
    one: JudgedGroup, settings: Settings, selection: GroupWithPast
) -> SwitchCost | None:
    """What `evenkeel runbook` prints of the way to the advised strategy; None where there is none."""
    if not recommendation(one.advice).is_change:
        return None
    try:
        runbook = runbook_of(settings, selection, one.advice.strategy or "")
    except EvenkeelError:
        return None
    ahead = runbook.then.forecast
    delayed = ahead.price_held_up_offsets if ahead else None
    return cost_of(runbook.group, runbook.rollout, offsets=delayed, there=runbook.there)


def _cost(one: JudgedGroup, cost: SwitchCost | None) -> str | None:
    if not recommendation(one.advice).is_change:
        return None
    told = []
    if cost is not None:
        told.append(f"{restarted(cost)}{_of_whom(one, cost)}")
        if cost.offsets is not None:
            waits = about(cost.offsets)
            told.append(f"~{waits} records delayed" if waits != "0" else "no records delayed")
    if one.advice.moves:
        partitions = several(one.metrics["partitions"], "partition")
        told.append(f"{len(one.advice.moves):,} of {partitions} move")
    pause = pauses(pauses_in(one.metrics)) if cost is not None and cost.restarts else None
    return " ".join(map(_sentence, filter(None, (", ".join(told), pause)))) or None


def _of_whom(one: JudgedGroup, cost: SwitchCost) -> str:
    if Restart.ROLLING not in cost.rounds:
        return ""
    unit = "instance" if is_application(one) else "member"
    each = " each" if len(cost.rounds) > 1 else ""
    return f" ({several(cost.restarts // len(cost.rounds), unit)}{each})"


def _next(one: JudgedGroup, width: int) -> str | None:
    """A command with the group's name, what it is for behind it where that fits."""
    odd = {fact.measure for fact in one.found}
    steps = "steps, checks and rollback"
    if recommendation(one.advice).is_change:
        following, why = steps_to(one.advice.strategy or "", one.advice.group), steps
    elif one.metrics["state"] in REBALANCING:
        following = command("evenkeel advise --group {}", one.advice.group)
        why = "again, once it is Stable"
    elif NO_OFFSET_RESET in odd:
        return "Set auto_offset_reset of this group in a rule of evenkeel.toml."
    elif "lost_rack_awareness" in odd:
        following, why = steps_to("racks-server", one.advice.group), steps
    else:
        return None
    explained = f"{following}   # {why}"
    return explained if len(explained) <= width else following


def _legend(one: JudgedGroup, rows: Table | None, *, moves: bool) -> list[str]:
    more = ["--wide shows all columns", "--json has everything"]
    if one.advice.moves and not moves:
        more.insert(0, f"--moves lists the {several(len(one.advice.moves), 'partition')}")
    signs = legend_of([rows] if rows else [])
    shown = f"({'; '.join([*([signs] if signs else []), ', '.join(more)])})"
    if rows is None:
        return [shown]
    is_one = is_application(one)
    label = "Task by task" if is_one else "The way to a strategy"
    words = "evenkeel tasks --group {}" if is_one else "evenkeel elect --group {} --to STRATEGY"
    return [shown, f"{label}: {command_in_text(words, one.advice.group)}"]
