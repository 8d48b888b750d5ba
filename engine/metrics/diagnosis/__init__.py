"""
What is the matter with a group: the first of these that holds. All that hold are its troubles (`incidents.troubles`).

| diagnosis | when |
| --- | --- |
| unknown | it could not be read, or what would say how far behind it is, is missing |
| no members | nobody is there to consume |
| crash loop | a member joins again and again |
| scaler flapping | the number of members rises and falls again and again |
| rebalancing | ownership is in motion |
| data loss | retention removed what it had not read, from where its commit stands now, or pushes its commits on |
| offsets skipped | a commit jumped forward faster than a member consumes, or over what retention removed |
| (data loss imminent) | retention will reach what waits within `loss_within_seconds` |
| unassigned partitions | members subscribe to them and the group does not rebalance, but nobody owns them |
| hanging transaction | its commit stands where a transaction has been open for too long, and records wait behind it |
| (group not committing) | nothing of all that waits moves, whoever owns it |
| member not committing | none of a member's partitions moves, though records wait beyond the commit interval |
| stuck partition | the same of a partition whose owner consumes others |
| slow member | behind, and saturated below what its equals keep up with or it did before, or 3/4 of its peers |
| hot partition | behind, and it stands out: more arrives than the best member can do, and without it the rest fits |
| under-provisioned | behind, and more arrives than all members together are known to do |
| skewed load | behind, and more arrives at a member than it can do, though the total fits |
| catching up | behind, and nobody gets more than he can do |
| (store in one rack) | all copies of a Kafka Streams store stand in one rack (`streams.store_copies`) |
| healthy | no partition is behind its end by more than the objective beyond the commit interval |

What stands in brackets is told beside a diagnosis and never is one: it says how bad that is, or what is at risk.

*Behind* is a matter of time: `commit_interval.delay` above the group's objective. What is unknown of some partitions
hides nothing that is known of others, so *unknown* is said where nothing worse is.

`evidence` (what it follows from), `rules` (one function per line of the table).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model.batch import count_by
from ...model.facts import Fact
from ...model.states import ALARMS, Diagnosis
from .evidence import Evidence, OneGroup
from .rules import RULES

__all__ = ["Diagnosed", "Evidence", "diagnose", "first_of"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Diagnosed:
    """
    What is the matter with one group.

    Attributes:
        diagnosis: The first that holds.
        facts: With names and numbers: one fact per member or partition that it is about, else one.
    """

    diagnosis: Diagnosis
    facts: tuple[Fact, ...]


WELL = Diagnosed(diagnosis=Diagnosis.HEALTHY, facts=())


def diagnose(evidence: Evidence) -> list[Diagnosed]:
    """(G) what is the matter with each group."""
    batch = evidence.batch
    odd = evidence.counted & (evidence.behind[0] | evidence.in_doubt | (evidence.lost > 0))
    odd |= evidence.jumped | evidence.over_lost
    odd |= evidence.counted & (evidence.evicted | ~np.isnan(evidence.held_back))
    odd |= ~np.isnan(evidence.unassigned)
    looked_at = count_by(odd, batch.start) > 0
    looked_at[[*evidence.causes.repeated]] = True
    looked_at |= (batch.members.counts == 0) | (count_by(evidence.counted, batch.start) == 0)
    return [
        first_of(evidence.of_group(group))
        if look or header.error is not None or header.rebalancing
        else WELL
        for group, (header, look) in enumerate(zip(batch.headers, looked_at.tolist(), strict=True))
    ]


def first_of(group: OneGroup) -> Diagnosed:
    """What is the matter with one group."""
    for diagnosis, rule, needs in RULES:
        if diagnosis not in ALARMS and (facts := group.facts_of(rule, needs)):
            return Diagnosed(diagnosis=diagnosis, facts=facts)
    return WELL
