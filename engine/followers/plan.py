"""
A plan: which member of a group gets which partitions, until when, and who decides what it does not say.

It is written by `evenkeel plan` and read by the followers, in JSON; docs/reference/plan-format.md describes it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

NAME = "evenkeel-plan"
"""The name by which a group elects to follow a plan."""

SCHEMA = "evenkeel-plan/1"

FALLBACKS = ("cooperative-sticky", "sticky", "range", "roundrobin")
"""Strategies that may decide what a plan does not say: those that every client has."""

TopicPartition = tuple[str, int]

_IDENTITY = ("instance_id", "client_id", "host", "member_id")


class PlanError(ValueError):
    """A plan that cannot be read; the message says what is wrong with it."""


def by_topic(pairs: Iterable[TopicPartition]) -> dict[str, tuple[int, ...]]:
    """
    Topic -> partition numbers, in the order of the pairs.

    >>> by_topic([("orders", 0), ("payments", 2), ("orders", 3)])
    {'orders': (0, 3), 'payments': (2,)}
    """
    own: dict[str, list[int]] = {}
    for topic, number in pairs:
        own.setdefault(topic, []).append(number)
    return {topic: tuple(numbers) for topic, numbers in own.items()}


@dataclass(frozen=True, kw_only=True)
class PlannedMember:
    """
    One member, and what it shall get.

    Attributes:
        partitions: Topic -> partition numbers, ascending.
        instance_id: Its `group.instance.id`; None: it is known by *client_id* and *host*.
        client_id: Its client id.
        host: Its address, as the broker saw it.
        member_id: Its member id when the plan was made; for people.
    """

    partitions: Mapping[str, tuple[int, ...]]
    instance_id: str | None = None
    client_id: str | None = None
    host: str | None = None
    member_id: str | None = None

    @property
    def pairs(self) -> set[TopicPartition]:
        """What it shall get, as (topic, partition)."""
        return {(topic, number) for topic, own in self.partitions.items() for number in own}


@dataclass(frozen=True, kw_only=True)
class PlannedTopic:
    """A topic as it was when the plan was made: its id (None unknown) and how many partitions it had."""

    id: str | None
    partitions: int


@dataclass(frozen=True, kw_only=True)
class Plan:
    """
    Which member of a group gets which partitions.

    Attributes:
        group: The group it is made for.
        members: Each member once.
        made_at, valid_until: Aware UTC; from *valid_until* on nobody follows it.
        fallback: Who decides what the plan does not say; one of `FALLBACKS`.
        strategy: By what it was made; for people.
        cluster, snapshot_id: Of what it was made; for people.
        topics: The topics of the group; for people.
    """

    group: str
    members: tuple[PlannedMember, ...]
    made_at: datetime
    valid_until: datetime
    fallback: str
    strategy: str | None = None
    cluster: str | None = None
    snapshot_id: str | None = None
    topics: Mapping[str, PlannedTopic] = field(default_factory=dict)

    def to_json(self) -> str:
        """
        The plan as it is stored.

        >>> at = datetime(2026, 11, 23, 8, tzinfo=UTC)
        >>> one = PlannedMember(instance_id="orders-1", partitions={"orders": (0, 3)})
        >>> plan = Plan(group="g", members=(one,), made_at=at, valid_until=at, fallback="sticky")
        >>> read_plan(plan.to_json()) == plan
        True
        """
        members = [
            {name: getattr(one, name) for name in (*_IDENTITY, "partitions")}
            for one in self.members
        ]
        whole = {
            "schema": SCHEMA,
            "group": self.group,
            "cluster": self.cluster,
            "strategy": self.strategy,
            "snapshot_id": self.snapshot_id,
            "made_at": _text(self.made_at),
            "valid_until": _text(self.valid_until),
            "fallback": self.fallback,
            "topics": {name: asdict(topic) for name, topic in self.topics.items()},
        }
        told = json.dumps(whole, indent=2, ensure_ascii=False)
        # a line per member: people read a plan, and compare two
        lines = ",\n".join(f"    {json.dumps(one, ensure_ascii=False)}" for one in members)
        plan = f'{told[:-2]},\n  "members": [\n{lines}\n  ]\n}}\n'
        # a name may hold what a terminal obeys, or what turns the direction of a line
        return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in plan)


def read_plan(text: str | bytes) -> Plan:
    """
    Read a plan.

    Raises:
        PlanError: It is none, or of another schema; a partition stands in it twice; a fallback is not known.

    >>> read_plan('{"schema": "evenkeel-plan/2"}')
    Traceback (most recent call last):
    ...
    evenkeel.engine.followers.plan.PlanError: its schema is 'evenkeel-plan/2', this follower reads 'evenkeel-plan/1'
    """
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise PlanError(f"it is no JSON: {problem}") from None
    if not isinstance(whole, dict):
        raise PlanError("it is no JSON object")
    if whole.get("schema") != SCHEMA:
        raise PlanError(f"its schema is {whole.get('schema')!r}, this follower reads {SCHEMA!r}")
    try:
        plan = _plan(whole)
    except KeyError as problem:
        raise PlanError(f"it lacks {problem.args[0]!r}") from None
    except (TypeError, ValueError, AttributeError, OverflowError) as problem:
        raise PlanError(f"something in it is not what it should be: {problem}") from None
    if plan.fallback not in FALLBACKS:
        raise PlanError(f"its fallback {plan.fallback!r} is none of {', '.join(FALLBACKS)}")
    pairs = Counter(
        (topic, number)
        for one in plan.members
        for topic, own in one.partitions.items()
        for number in own
    )
    for (topic, number), times in pairs.items():
        if times > 1:
            raise PlanError(f"it gives {topic}-{number} to two members")
    return plan


def _plan(whole: Mapping[str, Any]) -> Plan:
    members = [
        PlannedMember(
            partitions={
                topic: tuple(sorted(map(_number, own))) for topic, own in one["partitions"].items()
            },
            **{name: _word(one.get(name)) for name in _IDENTITY},
        )
        for one in whole["members"]
    ]
    return Plan(
        group=_word(whole["group"]) or "",
        members=tuple(members),
        made_at=_moment(whole["made_at"]),
        valid_until=_moment(whole["valid_until"]),
        fallback=whole["fallback"],
        **{name: _word(whole.get(name)) for name in ("strategy", "cluster", "snapshot_id")},
        topics={
            name: PlannedTopic(id=_word(topic.get("id")), partitions=int(topic["partitions"]))
            for name, topic in whole.get("topics", {}).items()
        },
    )


def _word(text: Any) -> str | None:
    if not isinstance(text, str | None):
        raise TypeError(f"{text!r:.40} is no text")
    return text


def _number(number: object) -> int:
    """A partition; what only looks like a number is none, as Java's follower sees it."""
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise ValueError(f"{number!r} is no partition")
    return number


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} names no time zone")
    return moment.astimezone(UTC)


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
