"""What goes wrong when: drawn from a seed, so that a bad run can be had again."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

COUNT, CALM = 17, 6
"""Snapshots of a run, and how many of them come after the last fault is over."""

FIRST_FAULT = 2
"""No earlier: by then there are rates."""

TASKS = (
    *("take_snapshot", "watch_groups", "validate_snapshot", "measure_and_propose"),
    *("validate_candidates", "advise", "alert", "watch", "maintain"),
)
"""The tasks that may be hit."""

KINDS: Mapping[str, int] = {
    "clock of the tasks": 4,
    "clock of the database": 2,
    "clock of the machine": 2,
    "task runs twice": 5,
    "Postgres restarts": 5,
    "Postgres is away": 3,
    "Kafka": 5,
    "lake": 4,
    "task is killed": 6,
    "Slack": 6,
}
"""How often each kind happens beside the others."""

CLOCKS = (-7200.0, -3600.0, -3600.0, -400.0, -30.0, 30.0, 400.0, 3600.0, 3600.0, 86400.0)
"""Seconds by which a clock leaps."""

STOPS = ("fast", "immediate", "killed")
"""How a Postgres ends."""

KAFKA = (
    *(
        "certificate expired",
        "coordinator moves",
        "group cannot be read",
        "partitions cannot be read",
    ),
    *("slow", "nobody answers", "another cluster answers"),
)
"""How a cluster cannot be read."""

LAKE = ("file removed", "file cut", "manifest removed", "manifest cut", "disk full", "folder gone")
"""What becomes of the lake."""

SLACK = (
    *("500", "500 kept", "reset", "reset kept", "late kept", "429", "redirect", "refused", "page"),
    *("token revoked", "channel closed"),
)
"""How Slack answers."""

STARTS = (
    datetime(2026, 3, 2, 0, 0, tzinfo=UTC),
    # summer time begins and ends in Berlin at 01:00 UTC
    datetime(2026, 3, 29, 0, 0, tzinfo=UTC),
    datetime(2026, 10, 25, 0, 0, tzinfo=UTC),
    datetime(2026, 12, 31, 23, 0, tzinfo=UTC),
    datetime(2028, 2, 28, 23, 0, tzinfo=UTC),
)
"""When a run begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """
    Something that goes wrong.

    Attributes:
        at: The snapshot at which it begins.
        lasts: For how many snapshots.
        kind: A key of `KINDS`.
        how: In which way.
        task: During which task.
        call: At which call of a port in that task, from 0.
        after: Whether after the call.
    """

    at: int
    lasts: int
    kind: str
    how: str
    task: str
    call: int
    after: bool

    def __str__(self) -> str:
        """A line for people."""
        when = f"snapshot {self.at}" + (f" to {self.at + self.lasts - 1}" if self.lasts > 1 else "")
        place = f"{'after' if self.after else 'before'} call {self.call} of {self.task}"
        return f"{when}: {self.kind}, {self.how} ({place})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """When a run begins, how many snapshots it has, how many at the end are calm, and what goes wrong."""

    start: datetime
    count: int
    calm: int
    faults: tuple[Fault, ...]


def plan_of(seed: int, count: int = COUNT, calm: int = CALM) -> Plan:
    """
    The plan of a seed.

    >>> plan_of(7) == plan_of(7), plan_of(7) == plan_of(8)
    (True, False)
    """
    rng = random.Random(seed)
    end = count - calm
    faults = []
    for kind in rng.choices([*KINDS], [*KINDS.values()], k=rng.randint(2, 6)):
        at = rng.randrange(FIRST_FAULT, end)
        lasts = min(rng.choice((1, 1, 2, 3, 5)), end - at)
        faults.append(
            Fault(
                at=at,
                lasts=lasts,
                kind=kind,
                how=_how(rng, kind),
                task=rng.choice(TASKS),
                call=rng.choice((0, 0, 1, 1, 2, 3, 4, 6, 8, 12)),
                after=rng.random() < 0.5,
            )
        )
    return Plan(
        start=rng.choice(STARTS),
        count=count,
        calm=calm,
        faults=tuple(sorted(faults, key=lambda each: each.at)),
    )


def _how(rng: random.Random, kind: str) -> str:
    if kind.startswith("clock"):
        return f"{rng.choice(CLOCKS):+.0f} s"
    if kind.startswith("Postgres"):
        return rng.choice(STOPS)
    if kind == "task runs twice":
        return rng.choice(("threads", "processes"))
    return rng.choice({"Kafka": KAFKA, "lake": LAKE, "Slack": SLACK}.get(kind, ("SIGKILL",)))
