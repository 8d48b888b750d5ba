"""Seeds carried out side by side, each compared with the run without faults."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context

from tests.faults.plan import STARTS, Plan, plan_of
from tests.faults.promises import Kept, kept
from tests.faults.run import Server, carried_out, server


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What is left of a seed, and what happened in it."""

    seed: int
    snapshots: int
    advised: int
    messages: int
    plan: tuple[str, ...]
    met: tuple[str, ...]
    told: tuple[str, ...]
    broken: Mapping[str, tuple[str, ...]]
    seconds: float

    @property
    def breaks(self) -> list[str]:
        """What broke, with the plan and the command that shows it again."""
        if not self.broken:
            return []
        lines = [f"  seed {self.seed}: python -m tests.faults --seed {self.seed}"]
        lines += [f"    planned  {line}" for line in self.plan]
        lines += [
            f"    BROKEN   {name}: {line}" for name, some in self.broken.items() for line in some
        ]
        return lines

    @property
    def line(self) -> str:
        """One line for a person."""
        verdict = f"BROKEN: {'; '.join(self.broken)}" if self.broken else "ok"
        return (
            f"seed {self.seed:>4}  {len(self.met)} faults, {self.snapshots} snapshots, {self.advised} advice,"
            f" {self.messages} messages, {len(self.told)} failed tries, {self.seconds:.0f} s  {verdict}"
        )


_open = ExitStack()


@cache
def _server() -> Server:
    return _open.enter_context(server())


def without_faults(count: int, calm: int) -> Kept:
    """What is left of the run in which nothing goes wrong."""
    plan = Plan(start=STARTS[0], count=count, calm=calm, faults=())
    return carried_out(plan, _server(), 0, lambda run: kept(run, None))


def seen(seed: int, count: int, calm: int, should: Kept) -> Seen:
    """Carry out a seed, and compare it with the run without faults."""
    plan = plan_of(seed, count, calm)
    began = time.monotonic()
    run, found = carried_out(plan, _server(), seed, lambda run: (run, kept(run, should)))
    return Seen(
        seed=seed,
        snapshots=found.snapshots,
        advised=found.advised,
        messages=found.messages,
        plan=tuple(map(str, plan.faults)),
        met=tuple(run.met),
        told=tuple(run.scheduler.told),
        broken=found.broken,
        seconds=time.monotonic() - began,
    )


def _quietly() -> None:
    """What a worker process does first."""
    logging.disable(logging.INFO)
    # a task in a process of its own: what it does with locks of other threads is what is tried
    warnings.simplefilter("ignore", DeprecationWarning)


def _chunk(seeds: Sequence[int], count: int, calm: int, should: Kept) -> list[Seen]:
    """Some seeds in one process, with a server of its own; a line for each."""
    _quietly()
    done = []
    for seed in seeds:
        done.append(seen(seed, count, calm, should))
        print(done[-1].line, *done[-1].breaks, sep="\n", flush=True)
    return done


def run_all(seeds: Sequence[int], count: int, calm: int, jobs: int) -> list[Seen]:
    """All seeds, and what they broke."""
    _quietly()
    with _open:
        should = without_faults(count, calm)
        if should.broken:
            print("without faults:", *should.broken.items(), sep="\n")
        if jobs == 1:
            return _chunk(seeds, count, calm, should)
    chunks = [seeds[start::jobs] for start in range(jobs)]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        found = [pool.submit(_served_chunk, each, count, calm, should) for each in chunks]
        return sorted((one for each in found for one in each.result()), key=lambda one: one.seed)


def _served_chunk(seeds: Sequence[int], count: int, calm: int, should: Kept) -> list[Seen]:
    with _open:
        return _chunk(seeds, count, calm, should)
