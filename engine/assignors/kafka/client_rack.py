"""
A rack-aware strategy as it would answer once every member sends `client.rack`.

Members whose rack only the configuration knows are nowhere to Kafka: its strategies do as if they had none (KIP-881).
What the setting would bring is another row, `range+client.rack` beside `range`, with the setting as its first step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from ...model.assignments import Assignment, Deployment
from ..interface import Assignor, GroupSpec, all_telling
from ..kit.why import Steps
from .protocol_names import with_racks


@dataclass(frozen=True, slots=True)
class WithClientRack:
    """
    A strategy that is told the rack of every member of which it is known.

    Attributes:
        strategy: The one that is asked.
        name, works_on, needs, deployment, source: As of any strategy; the name is `with_racks`.
    """

    strategy: Assignor
    name: str
    works_on: frozenset[str]
    needs: frozenset[str]
    deployment: Deployment
    source: str

    def assign(self, group: GroupSpec) -> Assignment:
        """As the strategy, of the group with every known rack sent."""
        return self.strategy.assign(all_telling(group))

    def explain(self, group: GroupSpec, partition: int) -> Steps:
        """As the strategy, of the group with every known rack sent."""
        steps: Steps = self.strategy.explain(all_telling(group), partition)  # type: ignore[attr-defined]
        return steps


def racked(strategies: Mapping[str, Assignor]) -> dict[str, Assignor]:
    """Those of some strategies that a setting brings and that look at racks, by their names with `client.rack`."""
    made = (
        WithClientRack(
            strategy=one,
            name=with_racks(one.name),
            works_on=one.works_on,
            needs=one.needs,
            deployment=one.deployment,
            source=one.source,
        )
        for one in strategies.values()
        if "racks" in one.needs and one.deployment is Deployment.SETTING
    )
    return {one.name: cast(Assignor, one) for one in made}
