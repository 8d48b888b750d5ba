"""What is known of Kafka Streams applications that the wire does not tell."""

from __future__ import annotations

import enum
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from ..model.errors import no_strategy
from .base import Strict, Texts


class RackStrategy(enum.StrEnum):
    """
    `rack.aware.assignment.strategy`.

    >>> RackStrategy("balanced_min_cost"), RackStrategy("NONE").value
    (<RackStrategy.BALANCE_SUBTOPOLOGY: 'balance_subtopology'>, 'none')
    """

    NONE = "none"
    MIN_TRAFFIC = "min_traffic"
    BALANCE_SUBTOPOLOGY = "balance_subtopology"

    @classmethod
    def _missing_(cls, value: object) -> RackStrategy | None:
        """The names of KIP-925's draft, and any case of either."""
        if not isinstance(value, str):
            return None
        name = value.lower()
        drafted = {"min_cost": cls.MIN_TRAFFIC, "balanced_min_cost": cls.BALANCE_SUBTOPOLOGY}
        return drafted.get(name) or next((one for one in cls if one.value == name), None)


def _known_strategy(value: str | None) -> RackStrategy | None:
    if value is None:
        return None
    try:
        return RackStrategy(value)
    except ValueError:
        raise ValueError(str(no_strategy(value, RackStrategy)).rstrip(".")) from None


class StreamsSettings(Strict):
    """
    What shapes the assignment of a Kafka Streams application and is not on the wire: Kafka's settings, `_` for `.`.

    Attributes:
        task_assignor: `high-availability`, or `sticky` if `task.assignor.class` is Kafka's StickyTaskAssignor.
        rack_aware_assignment_strategy: The names in KIP-925's draft are accepted too. None: unknown; Kafka's default is
            assumed.
        rack_aware_assignment_traffic_cost, rack_aware_assignment_non_overlap_cost: None: the assignor's defaults.
        rack_aware_assignment_tags: Client tags that keep copies apart. None: all tags of the clients.
        num_standby_replicas: Standby copies of each store. None: as set for the group on the brokers (KIP-1071), else
            as many as every store has now.
        acceptable_recovery_lag: In offsets.
        max_warmup_replicas: Copies that are built at the same time.
        probing_rebalance_interval_ms: Time between rebalances that check whether these are ready.
        rack_as_tag: Use the rack as a tag if no tags are set. KIP-925 describes it; no Kafka release implements it.
        overlap: What the non-overlap cost compares with: `computed`, as in Kafka, or `previous`, the previous
            assignment.
        kafka: Release of Kafka Streams, such as "4.4", for the sticky assignor. None: 4.3 is assumed.
        changelogs: Table of sub-topologies to changelog topics, if names and sizes don't identify them.
        restore_records_per_second: Records/s that a stream thread restores. None: as observed (Kafka 4.4), else 20,000.
    """

    task_assignor: Literal["high-availability", "sticky"] = "high-availability"
    rack_aware_assignment_strategy: Annotated[
        RackStrategy | None, BeforeValidator(_known_strategy)
    ] = None
    rack_aware_assignment_traffic_cost: int | None = Field(default=None, ge=0)
    rack_aware_assignment_non_overlap_cost: int | None = Field(default=None, ge=0)
    rack_aware_assignment_tags: Texts | None = None
    num_standby_replicas: int | None = Field(default=None, ge=0)
    acceptable_recovery_lag: int = Field(default=10_000, ge=0)
    max_warmup_replicas: int = Field(default=2, ge=1)
    probing_rebalance_interval_ms: int = Field(default=600_000, ge=60_000)
    rack_as_tag: bool = False
    overlap: Literal["computed", "previous"] = "computed"
    kafka: Annotated[str, Field(pattern=r"^\d+(\.\d+)+$")] | None = None
    changelogs: dict[str, tuple[str, ...]] | None = None
    restore_records_per_second: float | None = Field(default=None, gt=0, allow_inf_nan=False)
