"""
Offsets, from snapshot to snapshot: logs grow and are cut, groups follow as their course says.

Everything is an array over all partitions (P) or all rows (R); a step takes the arrays five minutes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evenkeel.engine.model import Floats, Ints
from tests.helpers.fleet.groups import Course, State
from tests.helpers.fleet.layout import Fleet
from tests.helpers.fleet.shape import EVERY

QUIET = 0.1
"""Share of topics in which nothing is produced."""

KEPT_SECONDS = 4 * 3600
"""How long logs are kept that are not compacted."""

NEW_PARTITIONS, NEVER_COMMITTED = 0.15, 0.05
"""Share of committing groups in which so large a share of rows has no commit: nothing was read there yet."""

COMMIT_SECONDS = 5.0
"""A commit is at most so old (auto.commit.interval.ms)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Offsets:
    """
    The offsets of one snapshot.

    Attributes:
        begin, end: (P).
        committed: (R), of rows that have a commit.
        log_bytes: (P).
    """

    begin: Ints
    end: Ints
    committed: Ints
    log_bytes: Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class Movement:
    """
    How rows move: of what arrives *share* is read at once, the rest adds to the backlog, which *fading* shrinks.

    Attributes:
        rate: (P) offsets/s.
        share, fading: (R).
        backlog: (R) at the first snapshot, offsets.
        commits: (R) whether there is a commit.
    """

    rate: Floats
    share: Floats
    fading: Floats
    backlog: Floats
    commits: np.ndarray


def course_of(fleet: Fleet) -> Movement:
    """How a fleet moves."""
    rng = np.random.default_rng([fleet.shape.seed, 2])
    rate = _rates(fleet, rng)
    course = np.array([c.name for c in fleet.groups.course])[fleet.row_group]
    state = np.array([s.name for s in fleet.groups.state])[fleet.row_group]
    count = len(fleet.row_link)
    share, fading = np.ones(count), np.ones(count)
    backlog = rate[fleet.row_partition] * rng.uniform(0, 2, count)
    slow = (course == Course.SLOW_MEMBER.name) & _of_one_member(fleet)
    hot, stuck = (course == c.name for c in (Course.HOT_PARTITION, Course.STUCK_PARTITION))
    one = _first_rows(fleet)
    rate[fleet.row_partition[hot & one]] *= 20
    share[slow], share[hot & one], share[stuck & one] = 0.7, 0.6, 0.0
    few = course == Course.TOO_FEW.name
    share[few] = rng.uniform(0.85, 0.97, count)[few]
    catching = course == Course.CATCHING_UP.name
    fading[catching], backlog[catching] = 0.75, backlog[catching] * 1000 + 500
    idle = state == State.EMPTY.name
    share[idle], backlog[idle] = 0.0, backlog[idle] * 900
    losing = course == Course.LOSING.name
    share[losing], backlog[losing] = 0.2, backlog[losing] * 3 * KEPT_SECONDS + 1000
    silent = np.isin(state, [State.UNCOMMITTED.name, State.UNREADABLE.name])
    growing = (rng.random(len(fleet.groups)) < NEW_PARTITIONS)[fleet.row_group]
    commits = ~silent & ~(growing & (rng.random(count) < NEVER_COMMITTED))
    return Movement(rate=rate, share=share, fading=fading, backlog=backlog, commits=commits)


def _rates(fleet: Fleet, rng: np.random.Generator) -> Floats:
    """(P) offsets/s: topics differ by orders of magnitude, their partitions by a factor of two or so."""
    topics = len(fleet.topic_size)
    of_topic = np.exp(rng.normal(np.log(20), 1.5, topics)) * (rng.random(topics) >= QUIET)
    return of_topic[fleet.partition_topic] * np.exp(rng.normal(0, 0.5, fleet.partitions))


def _first_rows(fleet: Fleet) -> np.ndarray:
    """(R) whether a row is its group's first."""
    return np.concatenate([[True], fleet.row_group[1:] != fleet.row_group[:-1]])


def _of_one_member(fleet: Fleet) -> np.ndarray:
    """(R) whether a row belongs to the first member of its group."""
    return fleet.owner == fleet.member_start[:-1][fleet.row_group]


def moving(fleet: Fleet) -> Iterator[Offsets]:
    """The offsets of each snapshot, the oldest first."""
    course, seconds = course_of(fleet), EVERY.total_seconds()
    rng = np.random.default_rng([fleet.shape.seed, 3])
    kept = course.rate * KEPT_SECONDS
    compacted = fleet.compacted[fleet.partition_topic]
    end = kept * rng.uniform(0.2, 5, fleet.partitions) + rng.integers(0, 500, fleet.partitions)
    begin = np.where(compacted, 0, np.maximum(0, np.floor(end - kept)))
    bytes_each = np.exp(rng.normal(np.log(600), 0.8, len(fleet.topic_size)))[fleet.partition_topic]
    backlog, committed = course.backlog, np.zeros(len(fleet.row_link))
    row, phase = fleet.row_partition, fleet.partition_topic % 3
    for number in range(fleet.shape.snapshots):
        if number:
            arrived = course.rate * seconds * rng.uniform(0.8, 1.2, fleet.partitions)
            end = end + arrived
            backlog = backlog * course.fading + arrived[row] * (1 - course.share)
            # a log is cut segment by segment, not record by record
            cut = ~compacted & (phase == number % 3)
            begin = np.where(cut, np.maximum(begin, np.floor(end - kept)), begin)
        age = rng.uniform(0, COMMIT_SECONDS, len(row)) * course.rate[row] * (course.share > 0)
        reached = np.clip(np.floor(end[row] - backlog - age), 0, None)
        committed = np.maximum(committed, reached)
        whole = np.floor(end)
        yield Offsets(
            begin=begin.astype(np.int64),
            end=whole.astype(np.int64),
            committed=np.minimum(committed, whole[row]).astype(np.int64),
            log_bytes=((whole - begin) * bytes_each).astype(np.int64),
        )
