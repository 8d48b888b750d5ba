"""How advice kept what it promised over many snapshots: the rows of the view `advice_scorecard`, without a history."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from statistics import fmean, median

from evenkeel.engine.records import AdviceCheck
from evenkeel.engine.report import PromiseKept

Mutes = Mapping[tuple[str, str], datetime]
"""Until when a strategy is not advised to a group, by group and strategy."""


def promises_kept(
    checks: Iterable[tuple[str, AdviceCheck]], mutes: Mutes
) -> tuple[PromiseKept, ...]:
    """
    A row per group, strategy, measure and time after it was taken up; what was taken up last is first.

    Args:
        checks: What came of promises, each with its group.
        mutes: What is muted now.
    """
    same: dict[tuple[str, str, int, str, str], list[AdviceCheck]] = defaultdict(list)
    for group, check in checks:
        key = (group, check.strategy, check.after_seconds, check.measure, check.unit)
        same[key].append(check)
    rows = [_row(group, own, mutes) for (group, *_), own in sorted(same.items())]
    return tuple(sorted(rows, key=lambda row: row.taken_up_at, reverse=True))


def _row(group: str, checks: Sequence[AdviceCheck], mutes: Mutes) -> PromiseKept:
    check = checks[0]
    known = [(check, check.realised) for check in checks if check.realised is not None]
    return PromiseKept(
        group_id=group,
        strategy=check.strategy,
        measure=check.measure,
        after_seconds=check.after_seconds,
        unit=check.unit,
        checks=len(checks),
        known=len(known),
        error=median(came - check.expected for check, came in known) if known else None,
        inside_share=_share(check.low <= came <= check.high for check, came in known),
        no_worse_share=_share(came <= check.high for check, came in known),
        taken_up_at=max(check.taken_up_at for check in checks),
        muted_until=mutes.get((group, check.strategy)),
    )


def _share(flags: Iterable[bool]) -> float | None:
    every = [float(flag) for flag in flags]
    return fmean(every) if every else None
