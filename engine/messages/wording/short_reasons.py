"""Reasons of advice in the width of a column: one reason, with names cut to fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from ...model.facts import Fact, FactKind, of_kind
from ...model.formats import NOTHING, brief, brief_duration, change, size
from ...model.text import cut, one_line, printable
from ...records.lifecycle import VERDICT_SECONDS
from .clauses import known, whole
from .facts import words
from .gains_and_losses import DAY

WIDTH = 38
"""Characters of a reason, at most."""

Short = str | Callable[[Fact, Sequence[Fact]], str]
"""A reason, or a function of its fact and of all facts."""


def short_reason(facts: Sequence[Fact], found: Sequence[Fact] = ()) -> str:
    """
    The reason of an advice in at most `WIDTH` characters; a finding if that is more informative.

    >>> from evenkeel.engine.model.facts import finding, reason
    >>> lag = Fact(kind=FactKind.GAIN, measure="forecast_lag_expected", before=15557.7, after=22.1)
    >>> short_reason([reason("to_be_confirmed", ["roundrobin"], after=8, bound=20), lag])
    'lag in 1 h: 15.6k -> 22'
    >>> lost = finding("lost_rack_awareness", before=1 / 3, after=0)
    >>> short_reason([reason("nothing_to_gain", ["uniform"])], [lost])
    '33% cross-rack; racks-server gets 0%'

    Args:
        facts: The facts of the advice.
        found: Findings about the group and its assignment.
    """
    told = notable(found)
    if told and says_nothing(facts):
        return _short(FINDINGS[told[0].measure], told[0], found)
    if not facts:
        return NOTHING
    tables = {FactKind.FINDING: FINDINGS, FactKind.DIAGNOSIS: DIAGNOSES, FactKind.GAIN: GAINS}
    first = facts[0]
    short = tables.get(first.kind, REASONS).get(first.measure)
    return _short(short if short is not None else _plain(first), first, facts)


def says_nothing(facts: Sequence[Fact]) -> bool:
    """Whether the reason of an advice is only that no change is needed: then a finding is more informative."""
    return not facts or facts[0].measure in _NO_REASON


def notable(found: Sequence[Fact]) -> list[Fact]:
    """Findings for which a healthy group is listed, the most severe first; other findings are about measurement."""
    told = (fact for fact in of_kind(found, FactKind.FINDING) if fact.measure in FINDINGS)
    return sorted(told, key=lambda fact: list(FINDINGS).index(fact.measure))


def gravity(found: Sequence[Fact]) -> int:
    """The place of the most severe finding in `FINDINGS`; their number if there is none."""
    return next((list(FINDINGS).index(fact.measure) for fact in notable(found)), len(FINDINGS))


def _short(short: Short, fact: Fact, facts: Sequence[Fact]) -> str:
    return short if isinstance(short, str) else short(fact, facts)


def _fit(template: str, *names: str) -> str:
    """
    A template with names, cut to the width that its other words leave.

    >>> _fit("{}: 0.6/s, peers 2/s", "payments-reconciliation-worker-3")
    'payments-r…-worker-3: 0.6/s, peers 2/s'
    """
    room = WIDTH - len(template.replace("{}", ""))
    each = max(room // max(len(names), 1), 1)
    return template.format(*(cut(printable(one_line(name)), each) for name in names))


def _plain(fact: Fact) -> str:
    """A fact without an entry here."""
    if fact.before is None or fact.after is None:
        return _fit("{}", words(fact))
    return _fit(
        f"{{}}: {change(brief(fact.before), brief(fact.after))}", fact.measure.replace("_", " ")
    )


def _first_that_fits(*told: str) -> str:
    """The longest that fits, or the last."""
    return next((each for each in told if len(each) <= WIDTH), told[-1])


def _first(fact: Fact) -> str:
    return fact.subjects[0] if fact.subjects else NOTHING


def _rate(per_second: float | None) -> str:
    return f"{brief(known(per_second))}/s"


def _percent(share: float | None) -> str:
    """
    >>> _percent(0.333), _percent(0.9996), _percent(0.0004), _percent(0)
    ('33%', '>99%', '<1%', '0%')
    """
    points = known(share) * 100
    if 0 < points < 1:
        return "<1%"
    return ">99%" if 99 < points < 100 else f"{points:.0f}%"


def _fall(fact: Fact) -> float:
    """The amount of the fall."""
    return known(fact.before) - known(fact.after)


def _day(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%m-%d}"


def _clock(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%H:%M}"


def _beside(facts: Sequence[Fact], *measures: str) -> Fact | None:
    return next((fact for fact in facts if fact.measure in measures), None)


def _named(template: str) -> Short:
    """With the first subject."""
    return lambda fact, _: _fit(template, _first(fact))


def _quoted(template: str) -> Short:
    """With the words of another program."""
    return lambda fact, _: _fit(template, fact.quote or NOTHING)


def _counted(template: str) -> Short:
    """With the value of the fact."""
    return lambda fact, _: template.format(brief(known(fact.after)))


def _lasting(template: str) -> Callable[[Fact, Sequence[Fact]], str]:
    """With the first subject, if the template has a place for it, and a duration."""

    def short(fact: Fact, _: Sequence[Fact]) -> str:
        return _fit(template.replace("TIME", brief_duration(known(fact.after))), _first(fact))

    return short


# Gains


def _shares(_: Fact, facts: Sequence[Fact]) -> str:
    share = _beside(facts, "cross_rack_share")
    if share is None:
        return ""
    return f"cross-rack {change(_percent(share.before), _percent(share.after))}"


def _bytes(fact: Fact, facts: Sequence[Fact]) -> str:
    saved = f"{size(_fall(fact) * DAY)}/day"
    share = _shares(fact, facts)
    less = _first_that_fits(f"{saved} less across racks", f"{saved} less")
    return _first_that_fits(f"{share}, -{saved}", share) if share else less


def _records(fact: Fact, facts: Sequence[Fact]) -> str:
    saved = f"{brief(_fall(fact) * DAY)} records/day less"
    return _shares(fact, facts) or _first_that_fits(f"{saved} across racks", saved)


def _money(fact: Fact, _: Sequence[Fact]) -> str:
    saved = brief(_fall(fact))
    return _fit(f"{saved} {{}}/month less across racks", fact.unit or "")


GAINS: Mapping[str, Short] = {
    "forecast_lag_expected": lambda fact, _: (
        f"lag in 1 h: {change(brief(known(fact.before)), brief(known(fact.after)))}"
    ),
    "cross_rack_bytes_per_second": _bytes,
    "cross_rack_records_per_second": _records,
    "cross_rack_cost_per_month": _money,
    "cross_rack_share": _shares,
    "unowned": lambda fact, _: f"{brief(_fall(fact))} partitions get an owner",
}
"""The purpose of a switch, by the first gain."""


def _gain(fact: Fact, facts: Sequence[Fact]) -> str:
    gains = of_kind(facts, FactKind.GAIN)
    if not gains:
        return _fit("{} would be better", _first(fact))
    short = GAINS.get(gains[0].measure)
    return _short(short if short is not None else _plain(gains[0]), gains[0], facts)


_CALLED = {
    "forecast_lag_expected": "lag",
    "forecast_lag_integral_expected": "lag",
    "price_offset_seconds": "cost",
    "partition_spread": "spread",
    "moves": "moves",
    "unowned": "unowned",
    "stores_in_one_rack": "store risk",
}
"""Short names of measures."""


def _both(fact: Fact, facts: Sequence[Fact]) -> str:
    gain, loss = (
        next((_called(each.measure) for each in of_kind(facts, kind)), None)
        for kind in (FactKind.GAIN, FactKind.LOSS)
    )
    worse = f"{loss} up" if loss else "but flawed"
    return _fit(f"{{}}: {gain or 'lag'} down, {worse}", _first(fact))


def _called(measure: str) -> str | None:
    return "cross-rack" if measure.startswith("cross_rack") else _CALLED.get(measure)


# Diagnoses


def _too_few(fact: Fact, _: Sequence[Fact]) -> str:
    needed = whole(fact.after)
    if fact.bound is not None and needed > fact.bound:
        return f"needs {brief(needed)} members, {brief(fact.bound)} partitions"
    return f"needs {brief(needed)} members, has {brief(known(fact.before))}"


def _slower_than(fact: Fact) -> str:
    if fact.bound is None:
        return f"{_rate(fact.before)} in"
    return f"peers {_rate(fact.bound)}"


def _catching_up(fact: Fact, _: Sequence[Fact]) -> str:
    late = fact.after is None or math.isinf(fact.after)
    return "catching up" if late else f"catching up, done in ~{brief_duration(known(fact.after))}"


def _standing(template: str) -> Short:
    """As `_lasting`; members of a share group, which the quote names, acknowledge records."""
    commits, acknowledges = _lasting(template), _lasting("no acknowledgement for TIME")
    return lambda fact, facts: (acknowledges if fact.quote else commits)(fact, facts)


def _nobody(fact: Fact, _: Sequence[Fact]) -> str:
    return "no members" if fact.after is None else f"no members, {_rate(fact.after)} unread"


DIAGNOSES: Mapping[str, Short] = {
    "unreadable": _quoted("{}"),
    "no_members": _nobody,
    "crash_loop": lambda fact, _: _fit(f"{{}}: {brief(known(fact.after))} joins", _first(fact)),
    "scaler_flapping": _counted("{} reversals of members"),
    "rebalancing": _named("{}"),
    "data_loss": lambda fact, _: (
        "unread records are being deleted"
        if fact.after is None
        else f"{brief(fact.after)} unread records deleted"
    ),
    "offsets_skipped": _counted("{} records skipped"),
    "data_loss_imminent": _lasting("data loss in ~TIME"),
    "unassigned_partitions": _named("{} without an owner"),
    "hanging_transaction": _lasting("{}: transaction open TIME"),
    "group_not_committing": _standing("no commit for TIME"),
    "member_not_committing": _standing("{}: no commit for TIME"),
    "stuck_partition": _lasting("{}: stuck for TIME"),
    "slow_member": lambda fact, _: _fit(
        f"{{}}: {_rate(fact.after)}, {_slower_than(fact)}", _first(fact)
    ),
    "hot_partition": lambda fact, _: _fit(
        f"{{}}: {_rate(fact.after)} in, member max {_rate(fact.bound)}", _first(fact)
    ),
    "under_provisioned": _too_few,
    "skewed_load": lambda fact, _: _fit(
        f"{{}}: {_rate(fact.after)} in, max {_rate(fact.bound)}", _first(fact)
    ),
    "catching_up": _catching_up,
    "no_partitions_seen": "no partition seen",
    "no_past": "needs 2 snapshots",
    "no_lag": "lag unknown",
    "no_commit_interval": "no commit seen yet",
    "no_time_lag": "time lag unknown",
}
"""Diagnoses, by their facts."""

_NO_COMMITS = "no commits: set auto_offset_reset"


def _blame(otherwise: str) -> Short:
    """The diagnosis of a reason."""

    def short(_: Fact, facts: Sequence[Fact]) -> str:
        for fact in of_kind(facts, FactKind.DIAGNOSIS):
            if fact.measure in DIAGNOSES:
                return _short(DIAGNOSES[fact.measure], fact, facts)
        return otherwise

    return short


def _unknown_lag(fact: Fact, facts: Sequence[Fact]) -> str:
    if _beside(facts, "no_offset_reset"):
        return _NO_COMMITS
    return (
        f"lag of {brief(fact.partitions)} partitions unknown" if fact.partitions else "lag unknown"
    )


# Pending switches


def _saves_little(_: Fact, facts: Sequence[Fact]) -> str:
    measures = ("cross_rack_bytes_per_second", "cross_rack_records_per_second")
    saved = _beside(facts, *measures)
    if saved is None:
        return "saves too little across racks"
    much = _fall(saved) * DAY
    amount = size(much) if saved.measure == measures[0] else f"{brief(much)} records"
    return f"saves only {amount}/day"


def _the_way_back(fact: Fact, facts: Sequence[Fact]) -> str:
    adopted = _beside(facts, "adopted_at")
    if adopted is None:
        return "revert blocked"
    return f"revert blocked until {_day(known(adopted.after) + known(fact.bound))}"


def _awaited(fact: Fact, _: Sequence[Fact]) -> str:
    due = known(fact.after)
    return f"switched {_clock(due - VERDICT_SECONDS)}, verified at {_clock(due)}"


def _muted(fact: Fact, facts: Sequence[Fact]) -> str:
    misses = sum(each.measure == "missed_at" for each in facts)
    until = f"paused until {_day(known(fact.after))}"
    noted = f"{_first(fact)} {until} ({misses} miss{'es' * (misses > 1)})"
    return noted if misses and len(noted) <= WIDTH else _fit(f"{{}} {until}", _first(fact))


REASONS: Mapping[str, Short] = {
    # it pays
    "to_be_confirmed": _gain,
    "is_confirmed": _gain,
    "still_advised": _gain,
    "the_way_back": _the_way_back,
    "outcome_awaited": _awaited,
    "in_motion": "rebalancing, does not count",
    "muted_strategy": _muted,
    # it does not
    "nothing_to_gain": "no better strategy",
    "gain_not_sure": "gain within forecast error",
    "saves_too_little": _saves_little,
    "could_be_more_even": "uneven, but healthy",
    "could_be_nearer": lambda fact, facts: (
        f"{_shares(fact, facts) or 'fewer across racks'}, size unknown"
    ),
    "gain_with_loss": _both,
    "unknown_lag": _unknown_lag,
    "no_forecast": "needs 2 snapshots",
    "diagnosis_unknown": _blame("too little known yet"),
    "restarting_no_help": _blame("catching up"),
    "assignment_not_to_blame": _blame("not caused by the assignment"),
    "no_strategy_helps": _blame("no strategy helps enough"),
    "nothing_deployable": "no strategy can be deployed",
    "policy_forbids": _named("policy.deployment excludes {}"),
    # it is not evaluated
    "no_live_assignment": "no current assignment",
    "live_assignment": lambda fact, _: (
        _fit("{} is not emulated", _first(fact))
        if fact.subjects
        else "current assignment not scored"
    ),
    "withheld": _quoted("failed validation: {}"),
    "unreadable": _quoted("{}"),
    "in_rebalance": _named("{}, retry if Stable"),
    "share_group": "share group: nothing to assign",
    "other_protocol": _named("{}: not a consumer group"),
    "no_members": _named("no members ({})"),
    "only_commits": "commits only, nothing to assign",
    "unresolved_regex": _counted("regex of {} members unresolved"),
    "subscription_unknown": _counted("subscription of {} members unknown"),
    "no_existing_topic": "subscribed topics do not exist",
    "partition_rows_missing": _named("partitions of {} are missing"),
    "not_measured": "not measured yet",
    "measuring_failed": _quoted("not measured: {}"),
    "replay_failed": _quoted("replay failed: {}"),
    "failed": _quoted("failed: {}"),
    "refused": _quoted("{}"),
    "broker_assigns_tasks": "Kafka Streams: broker assigns tasks",
    "assigns_tasks": "Kafka Streams: assigns tasks",
}
"""The reason of an advice, by its measure."""


FINDINGS: Mapping[str, Short] = {
    "gone_but_kept": _named("{}: deleted, but still owned"),
    "given_twice": _named("{}: two owners"),
    "given_unsubscribed": _named("{}: owner does not subscribe"),
    "lost_records": _counted("{} unread records deleted"),
    "commits_beyond_end": "commits beyond the end",
    "lost_rack_awareness": lambda fact, _: (
        f"{_percent(fact.before)} cross-rack; racks-server gets {_percent(fact.after)}"
    ),
    "leaders_only": lambda fact, _: (
        f"{_percent(fact.before)} cross-rack; KIP-392 gets {_percent(fact.after)}"
    ),
    "stray_rack": _named("rack {}: no broker has it"),
    "members_left_out": _named("{} leaves members out"),
    "no_offset_reset": _NO_COMMITS,
    "rebalancing": _named("{}"),
    "subscription_changing": "subscriptions are changing",
    "unequal_subscriptions": _counted("{} different subscriptions"),
    "uneven_by_subscription": "uneven: subscriptions differ",
    "idle_members": lambda fact, _: (
        f"{brief(known(fact.after))} of {brief(known(fact.bound))} members are idle"
    ),
    "largest_member_lag": "lag is at its lower bound",
}
"""Findings for which a group is listed, the most severe first."""

RACK_FINDINGS = frozenset({"lost_rack_awareness", "leaders_only", "stray_rack"})
"""Findings about racks."""

_NO_REASON = frozenset(
    {
        *("nothing_to_gain", "nothing_deployable"),
        *("could_be_more_even", "could_be_nearer", "saves_too_little"),
    }
)
