"""
What of advice is news: pure decisions over facts.

It is news when the state it has come to differs from what its group was last told, whether or not that message has
arrived yet.
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
    """News of one group: what of its *advice* is told, of which strategy; *announced* is what it was told before."""

    kind: NewsKind
    strategy: str
    at: datetime
    advice: ScoredAdvice
    announced: Announcement | None = None

    @property
    def group_id(self) -> str:
        """Whose they are."""
        return self.advice.group_id

    @property
    def announcement(self) -> Announcement:
        """What the group's readers know once this is told."""
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
    NewsKind.MISSED: (
        AdviceState.MISSED,
        frozenset({NewsKind.SWITCH, NewsKind.ADOPTED, NewsKind.VERIFIED}),
    ),
}
"""What is told of an advice after its switch: in which state it is then, and what was told last."""

PASSING = frozenset({Diagnosis.UNKNOWN, Diagnosis.REBALANCING})
"""Diagnoses that say nothing: a message that comes sooner because of them would come because of nothing."""


def new_advice(
    given: Iterable[ScoredAdvice],
    announcements: Mapping[str, Announcement],
    at: datetime,
    pause: Callable[[str], timedelta],
) -> list[News]:
    """
    What of a snapshot's advice its groups have not been told and may be told now, worst first.

    What is told is the state to which an advice has come, never the same twice, and what follows a switch only to those
    who heard of that switch. What comes sooner after the last message than the group's pause waits, unless the
    diagnosis changed since. Nothing is kept of what waits: whoever asks later finds the state as it is then.

    Args:
        given: The advice of one snapshot, one per group.
        announcements: What each group was told last, sent or still pending.
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
        # a group that cannot be judged now has nothing to act on
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
            return News(kind=kind, strategy=last[1], at=at, advice=advice, announced=announced)
    return None


def _is_of(uptake: Uptake | None, announced: Announcement | None) -> bool:
    """Whether what was adopted is what was told last; of another time than what was said to be verified, it is not."""
    if uptake is None or announced is None or uptake.strategy != announced.strategy:
        return False
    return announced.kind is not NewsKind.VERIFIED or uptake.first_at <= announced.at


def _may_be_told(news: News, pause: Callable[[str], timedelta]) -> bool:
    before, now = news.announced, _diagnosis(news.advice)
    if before is None:
        return True
    unknown = now is None or now in PASSING or before.diagnosis is None
    changed = not unknown and now is not before.diagnosis
    return changed or news.at - before.at >= pause(news.group_id)


def _diagnosis(advice: ScoredAdvice) -> Diagnosis | None:
    return advice.metrics.diagnosis if advice.metrics else None


def _worst_first(news: News) -> tuple[int, bool, float, str]:
    forecast = news.advice.live_forecast
    lag = forecast and forecast.forecast_lag_expected
    return (list(NewsKind).index(news.kind), lag is None, -(lag or 0), news.group_id)
