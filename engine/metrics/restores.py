"""
How fast threads of a Kafka Streams application restore stores, as far as snapshots show it.

From Kafka 4.4 on a thread reports how far it is with each task that it restores, and where their changelogs end
(KIP-1071, KAFKA-20116), and brokers describe the last report (KAFKA-20695). A task is being restored that is assigned
and reported and active, as one that runs is left out; a copy while it lacks more than `CAUGHT_UP` records. So a thread
with one in two successive reports has read all the time between them: what all its tasks have more in the second, and
at most the rest of those that are done by then, and all of those that came.

A report is up to `AGE` seconds old when a snapshot shows it, and younger than the snapshot before if that shows
another one. So the time between two reports is known to their ages, and is long enough after some snapshots.

What it does not do: see a store that is restored between two reports, know another `streams.task.offset.interval.ms`,
or tell records from offsets that compaction removed: `streams.restoring` counts these as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

from ..model.groups import GroupSnapshot, Member
from ..model.pauses import RESTORED, RESTORES
from ..records.pause_course import PauseSpan
from .past import Past
from .pauses import is_known

AGE = 65.0
"""Seconds: `streams.task.offset.interval.ms` by default, and the heartbeat that brings the report."""

CAUGHT_UP = 10_000
"""`acceptable.recovery.lag` by default: a copy that lacks less follows what the active task writes."""

_Report = Mapping[str, tuple[int, float]]
"""Task -> the offset that it is restored to, and the end of its changelogs; infinite unknown."""


def restores(past: Past, group: int) -> list[PauseSpan]:
    """For how long each thread that restores stores in the newest snapshot would restore 1,000,000 records."""
    now = _reports(past.now.groups[group])
    if not now:
        return []
    older = [batch.groups[number] for batch, number in past.snapshots_of(group)]
    samples = [
        (one.taken_at.timestamp(), _reports(one)) for one in (past.now.groups[group], *older)
    ]
    spans = (_span([(at, each.get(name)) for at, each in samples]) for name in now)
    return [span for span in spans if span is not None]


def _span(samples: list[tuple[float, _Report | None]]) -> PauseSpan | None:
    """The same of one thread; None where that says little. *samples* are its reports, newest first."""
    ages = [
        min(AGE, now - before) if report != other else AGE
        for (now, report), (before, other) in pairwise(samples)
    ] + [AGE]
    read, most, first = 0.0, 0.0, 0
    for number, ((_, report), (_, before)) in enumerate(pairwise(samples)):
        step = _read(before or {}, report or {})
        if step is None:
            break
        read, most, first = read + step[0], most + step[1], number + 1
    if not read or samples[0][1] == samples[1][1]:
        return None
    apart = samples[0][0] - samples[first][0]
    low = max(apart - ages[0], 0.0) * RESTORED / most
    high = (apart + ages[first]) * RESTORED / read
    says = is_known(low, high) or not low <= RESTORES.seconds <= high
    return PauseSpan(samples[0][0], low, high) if says else None


def _read(before: _Report, after: _Report) -> tuple[float, float] | None:
    """Records that a thread read at least and at most between two reports; None unless it read all the time."""
    both = before.keys() & after.keys()
    steps = [after[task][0] - before[task][0] for task in both]
    if not both or min(steps) < 0:
        return None
    done = sum(before[task][1] - before[task][0] for task in before.keys() - both)
    return sum(steps), sum(steps) + done + sum(after[task][0] for task in after.keys() - both)


def _reports(group: GroupSnapshot) -> dict[str, _Report]:
    """Member -> its tasks that are being restored, where there are some."""
    found = {member.id: _report(member) for member in group.members}
    return {name: report for name, report in found.items() if report}


def _report(member: Member) -> _Report:
    tasks = member.tasks
    if tasks is None:
        return {}
    ends, copies = tasks.ends or {}, {*tasks.standby, *tasks.warmup}
    return {
        task: (offset, _end(ends.get(task)))
        for task, offset in (tasks.offsets or {}).items()
        if (task in tasks.active and offset >= 0)
        or (task in copies and CAUGHT_UP < _end(ends.get(task)) - offset < math.inf)
    }


def _end(offset: int | None) -> float:
    """Kafka's largest number is an end that a thread does not know yet."""
    return math.inf if offset is None or offset == (1 << 63) - 1 else float(offset)
