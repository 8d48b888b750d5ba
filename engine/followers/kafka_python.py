"""
`PlanAssignor`: a group of kafka-python consumers follows a stored plan.

How to use it: one instance for each consumer, on every member of the group, with the same plan.

    from kafka import KafkaConsumer
    from evenkeel.engine.followers.kafka_python import PlanAssignor

    follower = PlanAssignor(plan="/etc/orders/plan.json", group="orders-app")
    consumer = KafkaConsumer(
        "orders",
        group_id="orders-app",
        group_instance_id="orders-1",
        partition_assignment_strategy=[follower],
    )

What it does: the member that leads reads the plan at each rebalance, and gives each partition to its member in the
plan; what the plan does not say, or all while there is no plan to read, the fallback decides, kafka-python's own class.
The rule is in docs/reference/plan-format.md (`rule.py`); Java's follower has the same.

Two members are here; the plan gives three of four partitions to the second:

>>> from datetime import timedelta
>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> from evenkeel.engine.followers.plan import PlannedMember
>>> now = datetime(2026, 11, 23, 8, tzinfo=UTC)
>>> planned = [
...     PlannedMember(instance_id="orders-1", partitions={"orders": (0,)}),
...     PlannedMember(instance_id="orders-2", partitions={"orders": (1, 2, 3)}),
... ]
>>> plan = Plan(
...     group="orders-app", members=tuple(planned), made_at=now, valid_until=now + timedelta(days=7), fallback="range"
... )
>>> class Cluster:
...     def partitions_for_topic(self, topic):
...         return {0, 1, 2, 3}
>>> with TemporaryDirectory() as folder:
...     path = Path(folder, "plan.json")
...     _ = path.write_text(plan.to_json())
...     follower = PlanAssignor(plan=path, group="orders-app", now=lambda: now)
...     members = [
...         SimpleNamespace(member_id=f"{name}-x", group_instance_id=name, metadata=follower.metadata({"orders"}))
...         for name in ("orders-1", "orders-2")
...     ]
...     answer = follower.assign(Cluster(), members)
>>> [(member, [tuple(part) for part in given.partitions()]) for member, given in answer.items()]
[('orders-1-x', [('orders', 0)]), ('orders-2-x', [('orders', 1), ('orders', 2), ('orders', 3)])]

What it does not do: it moves nothing by itself; a new plan is followed from the next rebalance on. It is of the
classic protocol: groups of KIP-848 (`group.protocol=consumer`) are assigned by the broker and cannot follow a plan.
It does not know of racks. One instance serves one consumer, for it remembers what that one owns.

Sources: KIP-429, KIP-54, KIP-345; kafka-python 3.0, `kafka/coordinator/assignors`.
"""

from __future__ import annotations

import json
import logging
import os
import traceback
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from kafka.coordinator.assignors.abstract import AbstractPartitionAssignor, RebalanceProtocol
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.coordinator.assignors.sticky.user_data import StickyAssignorUserData
from kafka.protocol.consumer.metadata import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

from .addresses import as_brokers_write, own_addresses
from .members import Seen, believed, by_topic, seen_of, text_in
from .plan import FALLBACKS, NAME, Plan, PlanError, TopicPartition, read_plan
from .rule import anchors, follow, why_unfit, withhold
from .sources import Reading, SourceError, source_of
from .user_data import VERSION, object_told, plan_told

PLAN_VARIABLE = "EVENKEEL_PLAN"
"""Of the environment: the plan, where none is given."""

_log = logging.getLogger("evenkeel.followers")

# Both sticky strategies have the same target; how it is reached (withholding) is the rule's.
_CLASSES = {
    "cooperative-sticky": StickyPartitionAssignor,
    "sticky": StickyPartitionAssignor,
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
}
_Given = dict[str, list[TopicPartition]]
"""Member id -> partitions."""

_UNKNOWN_GENERATION = -1
_LONGEST_REASON = 1000


class PlanAssignor(AbstractPartitionAssignor):  # type: ignore[misc]
    """
    Follows a stored plan; see the module for an example.

    Args:
        plan: A path, a `file:` or `https:` address (`http:` of this host only), or `topic:NAME`: the newest
            record of that topic whose key is the group id. None: what the environment variable EVENKEEL_PLAN says.
        group: The group id, for kafka-python does not tell it to an assignor.
        fallback: Who decides while no plan can be read: `cooperative-sticky`, `sticky`, `range` or `roundrobin`.
        address: The address that brokers see of this host, where it is none of its own (NAT); None: all it has.
        timeout_seconds: How long a rebalance waits for the plan.
        client: kafka-python's settings for reading a topic: `bootstrap_servers`, `security_protocol` and so on.
        eager: False: the group rebalances cooperatively (KIP-429), and only cooperative strategies may stand
            beside this one. True: each member gives up all at each rebalance, and eager strategies may stand beside
            it: the way into a running group. kafka-python does not tell an assignor which it is.
        rack: The member's rack, told to leaders that look for it; this one does not.
        now: The time, for tests.

    Raises:
        ValueError: A setting is wrong; the message says which. After that nothing is raised any more.
    """

    name = NAME

    def __init__(
        self,
        *,
        group: str,
        plan: str | os.PathLike[str] | None = None,
        fallback: str = "cooperative-sticky",
        address: str | None = None,
        timeout_seconds: float = 5.0,
        client: Mapping[str, Any] | None = None,
        eager: bool = False,
        rack: str | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        where = os.fspath(plan) if plan is not None else os.environ.get(PLAN_VARIABLE, "")
        if not where:
            raise ValueError(
                f"no plan is named: give plan=, or set {PLAN_VARIABLE}, to a path, an https address or topic:NAME"
            )
        if not group:
            raise ValueError("group is empty: give the consumer's group_id")
        if fallback not in FALLBACKS:
            raise ValueError(f"fallback {fallback!r} is none of {', '.join(FALLBACKS)}")
        if not timeout_seconds > 0:
            raise ValueError(f"timeout_seconds is {timeout_seconds}: give more than 0")
        self.group, self.fallback, self.eager, self.rack = group, fallback, eager, rack
        self._reading = Reading(source_of(where, group, client), timeout_seconds)
        self._address, self._now = address, now
        self._owned: list[TopicPartition] = []
        self._generation = _UNKNOWN_GENERATION
        self._member_id: str | None = None
        self._token = uuid.uuid4().hex
        self._logged: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        return f"PlanAssignor(plan={self._reading.source.label!r}, group={self.group!r})"

    def supported_protocols(self) -> list[RebalanceProtocol]:
        """How the group rebalances: exactly one way, for what is told to the leader depends on it."""
        return [RebalanceProtocol.EAGER if self.eager else RebalanceProtocol.COOPERATIVE]

    def metadata(self, topics: Collection[str]) -> ConsumerProtocolSubscription:
        """What this member tells the leader: topics, what it owns, its addresses."""
        sent: dict[str, Any] = {
            "evenkeel": VERSION,
            "addresses": self._addresses(),
            "token": self._token,
        }
        if self._member_id is not None:
            sent["member_id"] = self._member_id
        if self.eager:
            sent["had"] = dict(by_topic(self._owned))
        partition = ConsumerProtocolSubscription.TopicPartition
        claims = [] if self.eager else by_topic(self._owned)
        return ConsumerProtocolSubscription(
            version=3,
            topics=sorted(topics),
            user_data=json.dumps(sent).encode(),
            owned_partitions=[partition(topic=name, partitions=own) for name, own in claims],
            generation_id=self._generation,
            rack_id=self.rack,
        )

    def on_assignment(self, assignment: ConsumerProtocolAssignment, generation: int) -> None:
        """Remember what this member got, and under which id."""
        self._owned = [(part.topic, part.partition) for part in assignment.partitions()]
        self._generation = generation
        told = object_told(assignment.user_data)
        # a restarted static member may get what was made for the one before it
        own = told.get("token") == self._token
        self._member_id = text_in(told, "member_id") if own else None

    def assign(self, cluster: Any, members: Sequence[Any]) -> dict[str, ConsumerProtocolAssignment]:
        """
        Who gets what.

        Args:
            cluster: kafka-python's metadata; `partitions_for_topic` and `topics` are asked.
            members: Those that are here, with their decoded subscriptions.

        Returns:
            Member id -> its assignment; the user data says which plan is followed, and its token and member id.
        """
        # static first: kafka-python's classes lose members when both kinds alternate
        ordered = sorted(members, key=lambda one: (not one.group_instance_id, one.member_id))
        seen = believed([seen_of(one) for one in ordered])
        whole, plan = self._followed(cluster, seen)
        claims = [
            one.present if one.cooperative else replace(one.present, owned=()) for one in seen
        ]
        given, answer = withhold(whole, claims), {}
        for one in seen:
            member, told = one.present.member_id, json.loads(plan_told(plan))
            if one.token is not None:
                told |= {"token": one.token, "member_id": member}
            answer[member] = ConsumerProtocolAssignment(
                1, by_topic(given[member]), json.dumps(told).encode()
            )
        return answer

    def _followed(self, cluster: Any, seen: Sequence[Seen]) -> tuple[_Given, Plan | None]:
        """Member id -> what it shall have in the end, and the plan that says so; what does not fit is logged."""
        plan: Plan | None = None
        reasons: tuple[str, ...] = ()
        try:
            plan = read_plan(self._reading.read())
            whole, followed, reasons = self._by_plan(plan, cluster, seen)
        except Exception as problem:  # noqa: BLE001  whatever it is, the group goes on
            what = "read" if plan is None else "followed"
            strategy = self.fallback if plan is None else plan.fallback
            (whole, troubles), followed = _whole(strategy, cluster, seen), None
            reasons = (*troubles, f"the plan cannot be {what}: {_cause(problem)}")
        self._tell(reasons, plan)
        return whole, followed

    def _by_plan(
        self, plan: Plan, cluster: Any, seen: Sequence[Seen]
    ) -> tuple[_Given, Plan | None, tuple[str, ...]]:
        """What each shall have, the plan if it fits, and what of it does not."""
        now, present = self._now(), [one.present for one in seen]
        fits = why_unfit(plan, self.group, now) is None
        held = anchors(plan, present) if fits else {}
        # each as if it owned what the plan gives it, since the same generation as all others
        owning = [
            replace(
                one,
                present=replace(one.present, owned=held.get(one.present.member_id, ())),
                generation=1,
            )
            for one in seen
        ]
        whole, troubles = _whole(plan.fallback, cluster, owning if held else seen)
        followed = follow(plan, self.group, now, present, whole)
        return followed.assignment, plan if fits else None, (*troubles, *followed.reasons)

    def _tell(self, reasons: tuple[str, ...], plan: Plan | None) -> None:
        """Log what is not as planned, once until it changes."""
        longest = _LONGEST_REASON
        reasons = tuple(
            one if len(one) <= longest else f"{one[:longest]}..." for one in map(_plain, reasons)
        )
        if reasons == self._logged:
            return
        self._logged = reasons
        group, label = _plain(self.group), _plain(self._reading.source.label)
        if reasons:
            _log.warning("group %s, plan %s: %s", group, label, "; ".join(reasons))
        elif plan is not None:
            _log.info("group %s follows its plan of %s (%s)", group, plan.made_at, label)

    def _addresses(self) -> list[str]:
        if self._address is not None:
            return [as_brokers_write(self._address)]
        try:
            return own_addresses()
        except Exception as problem:  # noqa: BLE001  without them this member is a stranger to the plan, no more
            _log.debug("the addresses of this host are unknown: %s", _cause(problem))
            return []


def _whole(strategy: str, cluster: Any, seen: Sequence[Seen]) -> tuple[_Given, tuple[str, ...]]:
    """What a strategy gives to whom, none withheld, and what went wrong with it; where it fails, `range` decides."""
    members = []
    for one in seen:
        here, owned = one.present, by_topic(one.present.owned)
        # what it owns as `sticky` reads it
        user_data = StickyAssignorUserData(owned, one.generation) if owned else b""
        metadata = ConsumerProtocolSubscription(0, list(here.topics), user_data)
        members.append(
            SimpleNamespace(
                member_id=here.member_id, group_instance_id=here.instance_id, metadata=metadata
            )
        )
    try:
        answer = _CLASSES[strategy]().assign(cluster, members)
        troubles: tuple[str, ...] = ()
    except Exception as problem:  # noqa: BLE001  a rebalance must not fail; range looks at nothing but topics
        answer = RangePartitionAssignor.assign(cluster, members)
        troubles = (f"{strategy} fails ({_cause(problem)}), range decides instead of it",)
    whole = {
        member: [(part.topic, part.partition) for part in given.partitions()]
        for member, given in answer.items()
    }
    return whole, troubles


def _plain(text: str) -> str:
    """Text for a line of the log: names in it are others', and no line is theirs to write."""
    return "".join(c if c.isprintable() else " " for c in text)


def _cause(problem: Exception) -> str:
    """What went wrong, without secrets: words of our own, or the kind of error and where it came from."""
    if isinstance(problem, PlanError | SourceError):
        return str(problem)
    frames = traceback.extract_tb(problem.__traceback__)
    where = f" in {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    return f"{type(problem).__name__}{where}"
