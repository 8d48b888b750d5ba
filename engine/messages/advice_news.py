"""
News of advice: pure decisions over facts.

An advice is news if its state differs from the last notification of its group, delivered or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..model.assignments import AdviceState, Verdict
from ..model.message import Announcement, NewsKind
from ..model.states import Diagnosis
from ..ports import ScoredAdvice
from ..records.lifecycle import Uptake


@dataclass(frozen=True, kw_only=True, eq=False)
class News:
    """News of one group: its *advice* and strategy; *announced* is the notification before."""

    kind: NewsKind
    strategy: str
    at: datetime
    advice: ScoredAdvice
    announced: Announcement | None = None

    @property
    def group_id(self) -> str:
        """The group."""
        return self.advice.group_id

    @property
    def announcement(self) -> Announcement:
        """The record of this notification."""
        return Announcement(
            group_id=self.group_id,
            kind=self.kind,
            strategy=self.strategy,
            at=self.at,
            diagnosis=_diagnosis(self.advice),
        )


FOLLOWS: Mapping[NewsKind, tuple[AdviceState, frozenset[NewsKind]]] = {
    NewsKind.WITHDRAWN: (AdviceState.WITHDRAWN, frozenset({NewsKind.SWITCH})),
    NewsKind.ADOPTED: (AdviceState.ADOPTED, frozenset({NewsKind.SWITCH})),
    NewsKind.VERIFIED: (AdviceState.VERIFIED, frozenset({NewsKind.SWITCH, NewsKind.ADOPTED})),
    NewsKind.UNCLEAR: (AdviceState.EXPIRED, frozenset({NewsKind.SWITCH, NewsKind.ADOPTED})),
    NewsKind.MISSED: (
        AdviceState.MISSED,
        frozenset({NewsKind.SWITCH, NewsKind.ADOPTED, NewsKind.VERIFIED}),
    ),
}
"""News after a switch: the state of the advice, and the possible notifications before."""

TOLD = frozenset({AdviceState.CONFIRMED, *(state for state, _ in FOLLOWS.values())})
"""States of advice that may be news."""

PASSING = frozenset({Diagnosis.UNKNOWN, Diagnosis.REBALANCING})
"""Transient diagnoses: they don't justify an earlier message."""


def new_advice(
    given: Iterable[ScoredAdvice],
    announcements: Mapping[str, Announcement],
    at: datetime,
    pause: Callable[[str], timedelta],
) -> list[News]:
    """
    The advice of a snapshot that needs a notification now, worst first.

    evenkeel reports each state of an advice once. News after a switch go only to groups that were notified of the
    switch. News within the group's pause after the last message are delayed, unless the diagnosis changed, or another
    switch is recommended after one that did harm; a switch that was withdrawn is delayed in any case. Delayed news are
    not stored: a later call finds the state of its moment.

    Args:
        given: The advice of one snapshot, one per group.
        announcements: The last notification of each group, sent or pending.
        at: When the snapshot was taken.
        pause: From one message about the advice of a group, by its id, to the next.
    """
    news = []
    for advice in given:
        found = _news(advice, announcements.get(advice.group_id), at)
        if found and _may_be_told(found, pause):
            news.append(found)
    return sorted(news, key=_worst_first)


def _news(advice: ScoredAdvice, announced: Announcement | None, at: datetime) -> News | None:
    last = (announced.kind, announced.strategy) if announced else (None, None)
    if advice.state is AdviceState.CONFIRMED:
        # a group that cannot be evaluated now needs no action
        if advice.verdict is not Verdict.SWITCH or advice.strategy is None:
            return None
        if last == (NewsKind.SWITCH, advice.strategy):
            return None
        kind, strategy = NewsKind.SWITCH, advice.strategy
        return News(kind=kind, strategy=strategy, at=at, advice=advice, announced=announced)
    for kind, (state, after) in FOLLOWS.items():
        if advice.state is state and last[0] in after and last[1] is not None:
            if kind is not NewsKind.WITHDRAWN and not _is_of(advice.uptake, announced):
                return None
            if kind is NewsKind.UNCLEAR and not _is_known(advice):
                return None
            return News(kind=kind, strategy=last[1], at=at, advice=advice, announced=announced)
    return None


def _is_of(uptake: Uptake | None, announced: Announcement | None) -> bool:
    """Whether the adoption belongs to the last notification: same strategy, and no later than its verification."""
    if uptake is None or announced is None or uptake.strategy != announced.strategy:
        return False
    return announced.kind is not NewsKind.VERIFIED or uptake.first_at <= announced.at


def _is_known(advice: ScoredAdvice) -> bool:
    """Whether it expired by an outcome that was measured; else nobody took it up, or nobody knows what came of it."""
    uptake = advice.uptake
    by_outcome = uptake is not None and uptake.outcome_at == advice.state_since
    return by_outcome and any(check.saved_low is not None for check in advice.checks)


def _may_be_told(news: News, pause: Callable[[str], timedelta]) -> bool:
    before, now = news.announced, _diagnosis(news.advice)
    if before is None:
        return True
    unknown = now is None or now in PASSING or before.diagnosis is None
    # what was withdrawn because the group recovered comes back with the same trouble
    again = before.kind is NewsKind.WITHDRAWN and before.strategy == news.strategy
    changed = not unknown and now is not before.diagnosis and not again
    changed |= before.kind is NewsKind.MISSED and news.kind is NewsKind.SWITCH
    return changed or news.at - before.at >= pause(news.group_id)


def _diagnosis(advice: ScoredAdvice) -> Diagnosis | None:
    return advice.metrics.diagnosis if advice.metrics else None


def _worst_first(news: News) -> tuple[int, bool, float, str]:
    forecast = news.advice.live_forecast
    lag = forecast and forecast.forecast_lag_expected
    return (list(NewsKind).index(news.kind), lag is None, -(lag or 0), news.group_id)
