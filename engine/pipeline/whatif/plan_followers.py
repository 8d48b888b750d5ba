"""
What a group that follows a plan gets when it changes: the plan's rule, asked like a strategy.

The rule itself is the followers' (`engine/followers/rule.py`). Which plan it is stands in no snapshot, only by what it
was made (`Member.follows`): where nobody gives the plan, it is taken to be what members own now, with the default
fallback. Of the fallback strategies Kafka's own are emulated, whichever client leads.

Who joins is a stranger to the plan: a new host, or a new instance id.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import ClassVar

import numpy as np

from ...assignors import ASSIGNORS
from ...assignors.interface import GroupSpec, rejoining
from ...followers.plan import FALLBACKS, NAME, Plan, PlannedMember, TopicPartition, by_topic
from ...followers.rule import Followed, Present, anchors, follow, why_unfit
from ...model.arrays import NONE, Indices
from ...model.assignments import Assignment, Deployment
from ...model.errors import Infeasible
from ...model.facts import Fact, finding, note
from ...model.groups import GroupSnapshot


class Following:
    """A plan and its fallback as a strategy; `following_of` makes it of a group that follows one."""

    name: ClassVar[str] = NAME
    works_on: ClassVar[frozenset[str]] = frozenset({"partitions"})
    needs: ClassVar[frozenset[str]] = frozenset({"racks"})
    deployment: ClassVar[Deployment] = Deployment.CLASS
    source: ClassVar[str] = "docs/reference/plan-format.md"

    def __init__(self, group: GroupSnapshot, plan: Plan | None) -> None:
        """
        Args:
            group: A group whose members elected to follow a plan.
            plan: Its plan; None: what its members own now, if its leader says that one is followed.
        """
        self.is_given = plan is not None
        self.plan = plan or _supposed(group)
        self.now: datetime = group.taken_at
        self._group = group.group
        self._known = {member.id: member for member in group.members}

    @property
    def unfit(self) -> str | None:
        """Why nobody should follow the plan, in the followers' words; None: somebody should, or there is none."""
        return why_unfit(self.plan, self._group, self.now) if self.plan else None

    @property
    def fallback(self) -> str:
        """Who decides what the plan does not say."""
        return self.plan.fallback if self.plan else FALLBACKS[0]

    def assign(self, group: GroupSpec) -> Assignment:
        """
        One round, as a leader hands it out to members that rebalance cooperatively.

        Returns:
            An owner for each partition of a subscribed topic, but for those that somebody must give up first; where
            the plan does not fit, a finding in the followers' words.
        """
        claims = _claims(group)
        present = self._present(group, claims)
        fits = self.plan is not None and self.unfit is None
        held = anchors(self.plan, present) if self.plan and fits else {}
        asked = rejoining(group, _owner(group, held)) if held else group
        # all that the fallback gives, none withheld
        strategy = "sticky" if self.fallback.endswith("sticky") else self.fallback
        try:
            whole = group.lists(ASSIGNORS[strategy].assign(asked))
        except Infeasible:
            # should the fallback's class fail, range is asked
            whole = group.lists(ASSIGNORS["range"].assign(asked))
        followed = (
            follow(self.plan, self._group, self.now, present, whole)
            if self.plan
            else Followed(assignment=whole)
        )
        owner, claimer = _owner(group, followed.assignment), _owner(group, claims)
        waits = (claimer != NONE) & (claimer != owner) & (owner != NONE)
        return Assignment(
            owner=np.where(waits, np.int32(NONE), owner),
            transferring=np.where(waits, owner, np.int32(NONE)),
            findings=tuple(finding("plan_misfit", quote=why) for why in followed.reasons),
        )

    def _present(
        self, group: GroupSpec, claims: Mapping[str, Collection[TopicPartition]]
    ) -> list[Present]:
        """Who is there, by what a plan knows a member without instance id; of who joins nothing is known."""
        return [
            Present(
                member_id=member,
                topics=[group.topics[topic] for topic in group.subscribed(place).tolist()],
                instance_id=group.instance_ids[place],
                client_id=None if known is None else known.client_id,
                addresses=() if known is None else (known.host,),
                owned=claims[member],
            )
            for place, member in enumerate(group.members)
            for known in (self._known.get(member),)
        ]


def following_of(group: GroupSnapshot, plan: Plan | None = None) -> Following | None:
    """
    What a group follows; None where it is none that follows plans.

    Args:
        group: The group as it is.
        plan: The plan, where somebody gives it.
    """
    return Following(group, plan) if group.assignor == NAME else None


def of_following(following: Following, coming: Sequence[str]) -> list[Fact]:
    """
    Which plan was supposed, as notes.

    Args:
        following: What the group follows.
        coming: The names of those who join.
    """
    plan, fallback = following.plan, following.fallback
    if plan is None:
        return [note("plan_none", [fallback])]
    if following.unfit:
        return [note("plan_unfit", [fallback], quote=following.unfit)]
    measure = "plan_given" if following.is_given else "plan_supposed"
    told = [note(measure, [fallback], quote=plan.strategy or None)]
    return [*told, note("plan_strangers", coming)] if coming else told


def _supposed(group: GroupSnapshot) -> Plan | None:
    """The plan that gives everybody what he owns now; None where the leader says that none is followed."""
    strategy = next((m.follows for m in group.members if m.follows is not None), None)
    if strategy is None:
        return None
    table = group.partitions
    own: list[list[TopicPartition]] = [[] for _ in (*group.members, NONE)]  # the last: nobody's
    for topic, number, owner in zip(
        table.names, table.partition.tolist(), table.owner.tolist(), strict=True
    ):
        own[owner].append((topic, number))
    return Plan(
        group=group.group,
        members=tuple(
            PlannedMember(
                partitions=by_topic(own[place]),
                instance_id=member.instance_id,
                client_id=member.client_id,
                host=member.host,
            )
            for place, member in enumerate(group.members)
        ),
        made_at=group.taken_at,
        valid_until=group.taken_at + timedelta(days=1),
        fallback=FALLBACKS[0],
        strategy=strategy,
    )


def _owner(group: GroupSpec, lists: Mapping[str, Collection[TopicPartition]]) -> Indices:
    """(P) who has what by lists of names; what the cluster lacks is left out."""
    topics = {name: topic for topic, name in enumerate(group.topics)}
    owner = np.full(group.partition_count, NONE, np.int32)
    for place, member in enumerate(group.members):
        for name, number in lists.get(member, ()):
            topic = topics.get(name)
            if topic is not None and number < group.topic_size[topic]:
                owner[group.topic_start[topic] + number] = place
    return owner


def _claims(group: GroupSpec) -> dict[str, list[TopicPartition]]:
    """Member id -> what it says it owns, of topics that are there."""
    member = np.repeat(np.arange(len(group.members)), np.diff(group.owned_start))
    claims: dict[str, list[TopicPartition]] = {name: [] for name in group.members}
    for place, topic, number in zip(
        member.tolist(), group.owned_topic.tolist(), group.owned_partition.tolist(), strict=True
    ):
        if topic != NONE:
            claims[group.members[place]].append((group.topics[topic], number))
    return claims
