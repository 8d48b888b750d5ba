"""What arrives, drawn once per group from the seed and the group's name: whatever its members do, it stays the same."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenkeel.engine.model.arrays import Floats, Ints
from tests.helpers.fluid.plan import DAY, EVERY, FIRST, STEP, WARM, Group, Traffic

BEYOND = 2000
"""Every log starts with about so many records more than retention keeps, so that no offset is near 0."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Logs:
    """
    The logs of partitions (P) at every step boundary (S + 1); the first is `WARM` seconds before snapshot 0.

    Attributes:
        end: (S + 1, P) records that ever arrived.
        begin: (S + 1, P) records that retention removed.
        born: (P) step from which on each partition exists.
    """

    end: Floats
    begin: Floats
    born: np.ndarray


def logs_of(group: Group, seed: int, steps: int) -> Logs:
    """The logs of a group."""
    rng = np.random.default_rng([seed, zlib.crc32(group.name.encode())])
    moments = np.arange(steps) * STEP - WARM
    rates = np.concatenate([np.array(topic.rates, float) for topic in group.topics])
    born = np.zeros(len(rates), np.int64)
    expected = _traffic(group.traffic, moments, rng)[:, None] * rates
    first = 0
    for topic in group.topics:
        span = slice(first, first + len(topic.rates))
        for since, name, number, factor in group.traffic.changes:
            if name == topic.name:
                which = span if number is None else slice(first + number, first + number + 1)
                expected[moments >= since, which] *= factor
        if topic.born is not None:
            born[first + topic.born : span.stop] = round((topic.born_at + WARM) / STEP)
        first = span.stop
    expected[np.arange(steps)[:, None] < born] = 0
    arrived = rng.poisson(expected * STEP)
    first = 0
    for topic in group.topics:
        for number, counts in enumerate(topic.counts or ()):
            arrived[:, first + number] = _dealt(counts, steps, rng)
        first += len(topic.rates)
    keeps = np.concatenate([np.full(len(t.rates), t.keeps) for t in group.topics])
    start = np.where(born > 0, 0.0, np.floor(rates * keeps) + BEYOND)
    end = start + np.vstack([np.zeros(len(rates)), np.cumsum(arrived, axis=0)])
    return Logs(end=end, begin=_begins(group, end, rates, start), born=born)


def _dealt(counts: Sequence[int], steps: int, rng: np.random.Generator) -> Ints:
    """(S) the records of each interval, each in a step drawn at random."""
    each = EVERY // STEP
    shares = np.full(each, 1 / each)
    return rng.multinomial(counts[: -(-steps // each)], shares).reshape(-1)[:steps]


def _traffic(traffic: Traffic, moments: Floats, rng: np.random.Generator) -> Floats:
    """(S) what all rates are multiplied by."""
    of_day = (moments + FIRST.hour * 3600 - traffic.peak) / DAY
    shape = 1 - traffic.depth * (1 - np.cos(2 * np.pi * of_day)) / 2
    if traffic.week:
        days = np.floor((moments - traffic.monday) / DAY).astype(np.int64)
        shape = shape * np.array(traffic.week)[days % len(traffic.week)]
    for start, seconds, factor in traffic.bursts:
        shape = np.where((moments >= start) & (moments < start + seconds), shape * factor, shape)
    kept = np.exp(-STEP / traffic.wander_over)
    pushes = rng.normal(0, traffic.wander * np.sqrt(1 - kept**2), len(moments))
    noise, wander = rng.normal(0, traffic.wander), np.empty(len(moments))
    for step, push in enumerate(pushes.tolist()):
        noise = noise * kept + push
        wander[step] = noise
    return shape * np.exp(wander - traffic.wander**2 / 2)


def _begins(group: Group, end: Floats, rates: Floats, start: Floats) -> Floats:
    """(S + 1, P) log starts: what ended so long ago, cut now and then; before the simulation all was steady."""
    begins = np.zeros_like(end)
    boundary = np.arange(len(end)) * STEP - WARM
    first = 0
    for topic in group.topics:
        span = slice(first, first + len(topic.rates))
        first = span.stop
        if topic.compacted:
            continue
        # halfway between snapshots, where these are as far apart as the cuts
        cut = np.floor(boundary / topic.cut_every - 0.5) + 0.5
        then = np.floor(cut * topic.cut_every - topic.keeps + WARM)
        at = np.clip(np.floor(then / STEP).astype(np.int64), 0, None)
        before = start[span] + rates[span] * then[:, None]
        begins[:, span] = np.where(then[:, None] < 0, np.floor(before), end[at, span])
    return np.maximum(begins, 0)
