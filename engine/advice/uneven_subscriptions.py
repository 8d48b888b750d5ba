"""What unequal subscriptions cost in evenness, and which strategies even it out (KIP-49's subject)."""

from __future__ import annotations

from collections.abc import Sequence

from ..assignors.interface.parts import of_part
from ..assignors.kafka.group_coordinator import alike
from ..metrics.subscriptions import takers
from ..model.assignments import ABLE, Candidate, Deployment
from ..model.facts import Fact, finding
from ..model.formats import counts
from .scoring import Judge

MADE_FOR_IT = "fair"
"""KIP-49's strategy: named where it evens the group out, deployable or not."""


def uneven_by_subscription(judge: Judge, candidates: Sequence[Candidate]) -> list[Fact]:
    """
    How uneven a group is whose members subscribe to different topics, and what would make it more even.

    Nothing where subscriptions are equal, or members have as many partitions as others, give or take one.

    Args:
        judge: Who counts partitions of its members.
        candidates: One per strategy, the live assignment among them.

    Source: KIP-49; KIP-54's predicate says whether anybody could take one over.
    """
    if of_part(alike, judge.group):
        return []
    sets = [topics for topics in judge.subscriptions if topics]
    live = next((each for each in candidates if each.deployment is Deployment.LIVE), None)
    if len(set(sets)) < 2 or live is None or live.assignment is None or live.score is None:
        return []
    some = takers([frozenset(judge.group.topics[topic] for topic in each) for each in sets])
    has = judge.counts(live.assignment)
    if has[0] - has[-1] < 2:
        return []
    fewest = min(some.values())
    topics = [topic for topic, number in some.items() if number == fewest]
    now = [counts(has), *topics]
    cost = finding("uneven_by_subscription", now, after=fewest, bound=len(sets))
    if live.score.balanced:
        return [cost, finding("even_as_can_be")]
    then = {
        each.strategy: judge.counts(each.assignment)
        for each in candidates
        if each.assignment is not None
        and (each.strategy == MADE_FOR_IT or each.feasibility in ABLE)
    }
    best = min(then.values(), key=lambda each: (each[0] - each[-1], each[0]))
    if best[0] - best[-1] >= has[0] - has[-1]:
        return [cost]
    names = [strategy for strategy, each in then.items() if each == best]
    names.sort(key=MADE_FOR_IT.__ne__)
    return [cost, finding("evened_out_by", [counts(best), *names])]
