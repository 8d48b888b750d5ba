"""
The settings of a Streams application that shape an assignment, in Kafka's names and defaults.

KIP-925 was accepted with other names than Kafka 3.6 shipped; both are read, the shipped ones are
shown. Source: `StreamsConfig` and `AssignmentConfigs` of Kafka 4.3, KIP-925.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from ..config.streams import RackStrategy
from ..model.errors import ConfigError
from ..model.pauses import RESTORED, RESTORES, Pause
from ..model.releases import USUAL, Release

ANY_LAG = (1 << 63) - 1
"""`acceptable.recovery.lag` at its greatest: every client counts as caught up."""


def _check_least(least: int, **values: int) -> None:
    for name, value in values.items():
        if value < least:
            raise ConfigError(
                f"{name} is {value}.", fix=f"Give a whole number of at least {least}."
            )


class StickyTasks(enum.StrEnum):
    """Kafka's sticky assignors of tasks, by the names of their rows; the others are a `RackStrategy`'s."""

    CLIENT = "sticky-tasks"
    """The public one of Kafka Streams (KIP-924): `evenkeel.engine.streams.sticky_tasks`."""

    SERVER = "sticky-tasks-server"
    """The broker's, of KIP-1071 groups: `evenkeel.engine.streams.sticky_tasks_server`."""


TaskStrategy = RackStrategy | StickyTasks
"""What places the tasks of an application: a row of its scoreboard."""


def own_strategy(assignor: str, *, kip_1071: bool) -> StickyTasks | None:
    """
    The sticky assignor that an application runs; None for one with the high-availability assignor.

    >>> own_strategy("sticky", kip_1071=False).value, own_strategy("high-availability", kip_1071=False)
    ('sticky-tasks', None)
    """
    if kip_1071:
        return StickyTasks.SERVER
    return StickyTasks.CLIENT if assignor == "sticky" else None


def task_strategies(assignor: str, *, kip_1071: bool) -> tuple[TaskStrategy, ...]:
    """The rows of an application, in order: its sticky assignor if it runs one, then the rack strategies."""
    own = own_strategy(assignor, kip_1071=kip_1071)
    return (*([own] if own else []), *RackStrategy)


class Overlap(enum.StrEnum):
    """Against which assignment a task that changes hands is charged."""

    COMPUTED = "computed"
    """The one just computed, before racks are looked at: what Kafka ships."""

    PREVIOUS = "previous"
    """The one the application runs now: what KIP-925 says of the sticky assignor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What one cross-rack partition costs, and one task that a client has to take over."""

    traffic: int
    non_overlap: int

    def __post_init__(self) -> None:
        """
        Raises:
            ConfigError: A cost is negative.
        """
        _check_least(0, traffic=self.traffic, non_overlap=self.non_overlap)


STATEFUL = Costs(traffic=10, non_overlap=1)
"""`HighAvailabilityTaskAssignor`'s defaults."""

STICKY = Costs(traffic=1, non_overlap=10)
"""The defaults of both sticky task assignors."""

STATELESS = Costs(traffic=1, non_overlap=0)
"""Fixed for tasks without state, whatever is configured."""

DEFAULT_COSTS = {"high-availability": STATEFUL, "sticky": STICKY}
"""Of stateful tasks, by assignor."""


def costs_of(assignor: str, traffic: int | None = None, non_overlap: int | None = None) -> Costs:
    """
    What stateful tasks cost: each cost as configured, else the assignor's own.

    Raises:
        ConfigError: There is no such assignor, or a cost is negative.

    >>> costs_of("sticky", traffic=5)
    Costs(traffic=5, non_overlap=10)
    """
    if assignor not in DEFAULT_COSTS:
        raise ConfigError(
            f"there is no task assignor {assignor!r}.",
            fix=f"Name one of {', '.join(DEFAULT_COSTS)}.",
        )
    usual = DEFAULT_COSTS[assignor]
    return Costs(
        traffic=usual.traffic if traffic is None else traffic,
        non_overlap=usual.non_overlap if non_overlap is None else non_overlap,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskConfig:
    """
    The settings of a Streams application that shape an assignment.

    Attributes:
        num_standby_replicas: Copies of each store beside the active one.
        acceptable_recovery_lag: Offsets a copy may be behind and still count as caught up; `ANY_LAG` accepts all.
        max_warmup_replicas: Copies that may be built at a time beside the standbys.
        probing_rebalance_interval_seconds: From one rebalance that looks whether copies are ready to the next.
        restore: Seconds for which a thread restores `pauses.RESTORED` records.
        tags: `rack.aware.assignment.tags`: standbys go where these client tags differ.
        rack_as_tag: Without *tags*, take the client's rack for one. Promised by KIP-925; no release of Kafka does it.
        strategy: `rack.aware.assignment.strategy`.
        costs: Of stateful tasks; stateless ones always cost `STATELESS`.
        costs_told: Whether both are configured, and neither is the assignor's own: without that the public sticky
            assignor looks at no rack.
        overlap: What *costs.non_overlap* is charged against.
        release: Of what runs the assignor: Kafka Streams, or the brokers of a KIP-1071 group.
    """

    num_standby_replicas: int = 0
    acceptable_recovery_lag: int = 10_000
    max_warmup_replicas: int = 2
    probing_rebalance_interval_seconds: float = 600.0
    restore: Pause = RESTORES
    tags: tuple[str, ...] = ()
    rack_as_tag: bool = False
    strategy: RackStrategy = RackStrategy.NONE
    costs: Costs = STATEFUL
    costs_told: bool = False
    overlap: Overlap = Overlap.COMPUTED
    release: Release = USUAL

    def __post_init__(self) -> None:
        """
        Raises:
            ConfigError: A number is below what Kafka takes.
        """
        _check_least(
            0,
            num_standby_replicas=self.num_standby_replicas,
            acceptable_recovery_lag=self.acceptable_recovery_lag,
        )
        _check_least(1, max_warmup_replicas=self.max_warmup_replicas)

    @property
    def restore_records_per_second(self) -> float:
        """Records/s that a thread restores."""
        return RESTORED / self.restore.seconds


__all__ = [
    "ANY_LAG",
    "DEFAULT_COSTS",
    "STATEFUL",
    "STATELESS",
    "STICKY",
    "Costs",
    "Overlap",
    "RackStrategy",
    "StickyTasks",
    "TaskConfig",
    "TaskStrategy",
    "costs_of",
    "own_strategy",
    "task_strategies",
]
