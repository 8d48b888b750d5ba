"""
For how long rebalances, restarts and restored stores stop a group: what was observed, and what that says.

An observation is a span: at least and at most so many seconds (`rebalances`, `restarts`, `restores`). The median of
what is behind some spans lies between the median of their lower ends and that of their upper ends, whatever is true of
each. So there are these cases, of which the first that holds counts:

| basis | what says so |
| --- | --- |
| configured | the group's rule |
| observed | these medians are apart by no more than a factor of `KNOWN`: their middle |
| at most, at least | what would be expected otherwise is beyond one of them: that one |
| as its client library | nothing contradicts the median over observed groups of the same library and protocol |
| usual | nothing contradicts the default (`model.pauses.USUAL`) |

The newest `KEPT` observations of a group are stored with its metrics, each with the time of the sample that showed it.
The next snapshot reads them there. What its own look-back shows at the same time replaces what was stored.

What it does not do: tell a rebalance of a large group from one of a small one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median

from ..model.pauses import Pause
from ..model.states import PauseBasis
from ..records.pause_course import PauseCourse, PauseSpan, newest, spans_of

KNOWN = 3.0
"""An upper end is at most so many times the lower one where the middle is known to half of itself."""


def is_known(low: float, high: float) -> bool:
    """
    Whether the middle of a span says how long something lasted.

    >>> is_known(20, 40), is_known(0, 10)
    (True, False)
    """
    return 0 < high <= KNOWN * low


def one_of_each(spans: Iterable[PauseSpan]) -> list[PauseSpan]:
    """
    Those that were shown at the same time as one, by their medians.

    >>> one_of_each([PauseSpan(10, 1, 3), PauseSpan(10, 2, 4), PauseSpan(20, 5, 5)])
    [PauseSpan(at=10, low=1.5, high=3.5), PauseSpan(at=20, low=5, high=5)]
    """
    found = defaultdict[float, list[PauseSpan]](list)
    for span in spans:
        found[span.at].append(span)
    return [PauseSpan(at, *_medians(some)) for at, some in found.items()]


def _medians(spans: Sequence[PauseSpan]) -> tuple[float, float]:
    return median(span.low for span in spans), median(span.high for span in spans)


def after(before: PauseCourse | None, **shown: Sequence[PauseSpan]) -> PauseCourse | None:
    """
    What is known of a group after a snapshot; None where nothing is.

    Args:
        before: What was known after the preceding one.
        shown: What the look-back shows, by the fields of `PauseCourse`.
    """
    if not any(shown.values()):
        return before
    course = before or PauseCourse()
    return replace(
        course,
        **{
            name: newest([*spans_of(getattr(course, name)), *one_of_each(spans)])
            for name, spans in shown.items()
        },
    )


def pause_of(
    spans: Sequence[PauseSpan], *, configured: float | None, peers: float | None, usual: float
) -> Pause:
    """
    For how long a group pauses, and how that is known.

    Args:
        spans: What was observed.
        configured: What somebody configured.
        peers: The median over observed groups of the same client library; None unknown.
        usual: The default.

    >>> spans = [PauseSpan(0, 2, 4), PauseSpan(300, 1, 3), PauseSpan(600, 8, 9)]
    >>> pause_of(spans, configured=None, peers=None, usual=5)
    Pause(seconds=3.0, basis=<PauseBasis.OBSERVED: 'observed'>, observed=3)
    >>> pause_of([PauseSpan(0, 0, 4)], configured=None, peers=7, usual=5)
    Pause(seconds=4, basis=<PauseBasis.AT_MOST: 'at most'>, observed=1)
    """
    expected, basis = (usual, PauseBasis.USUAL) if peers is None else (peers, PauseBasis.AS_LIBRARY)
    if configured is not None:
        expected, basis = configured, PauseBasis.CONFIGURED
    elif spans:
        low, high = _medians(spans)
        if is_known(low, high):
            expected, basis = (low + high) / 2, PauseBasis.OBSERVED
        elif expected > high:
            expected, basis = high, PauseBasis.AT_MOST
        elif expected < low:
            expected, basis = low, PauseBasis.AT_LEAST
    return Pause(seconds=expected, basis=basis, observed=len(spans))
