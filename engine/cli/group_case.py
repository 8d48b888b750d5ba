"""
A group of `evenkeel assign` as its case gives it: fields, checks, and the strategies' input that follows.

A case has `strategy`, `topics` and `members`, and may have `id`, `costs` and `auto_offset_reset`.

`topics` is name -> object, of which each list has one entry per partition:

* `partitions`: the racks of its replicas; `null` is a broker without a rack, `[]` is unknown.
* `lags` (offsets), or what a lag follows from: `begin` (log start), `end` (high watermark) and `committed` (the group's
  commit), all offsets, `null` where unknown or, for `committed`, not there. A commit within [begin, end] lags by
  `end - committed`, one below `begin` by `end - begin`, one above `end` by 0. Without a commit the group starts where
  `auto_offset_reset` says (KIP-169): `latest` lags by 0, anything else by `end - begin`; without that field it is the
  client's default, latest. An unknown end is an unknown lag.
* `rates` (offsets/s produced), `bytes_per_record`, `leaders` (the leader's rack), and for the topic `id` (UUID text).

`members`, in the order in which the broker lists them, have `id` and `topics` (the subscription), and may have
`instance_id`, `rack`, `capacity` (offsets/s it can consume), `owned` ([topic, partition] pairs) and `generation` as
their subscription carries them, `user_data` (an object; sticky strategies read `owned` and `generation` in it, a custom
strategy gets all of it in `GroupSpec.user_data`), and `config` (settings for custom strategies, in `GroupSpec.config`).

`costs` is what `min_traffic` and `balance_subtopology` weigh: `traffic` per partition that crosses racks, `non_overlap`
per partition that changes owner. Any other strategy refuses it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Self

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    StrictInt,
    StrictStr,
    ValidationError,
    field_validator,
    model_validator,
)

from ..assignors import ASSIGNORS
from ..assignors.interface import GroupSpec, build_spec
from ..config.rules import known_reset
from ..metrics.lag import OffsetReset, ReadOffsets, measure_lag
from ..model.arrays import NONE, Column
from ..model.errors import InputError

_ERRORS_SHOWN = 3
_LISTS = ("lags", "begin", "end", "committed", "rates", "bytes_per_record", "leaders")
_OFFSETS = ("begin", "end", "committed")

Number = Annotated[StrictInt, Field(ge=0, lt=1 << 31)]
Offsets = Annotated[StrictInt, Field(ge=0, lt=1 << 63)]
Rate = Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)]
Pair = tuple[StrictStr, Number]


class TopicCase(BaseModel):
    """A topic of a case: the racks of each partition's replicas, None for a broker without one."""

    partitions: list[list[StrictStr | None]]
    id: StrictStr | None = None
    lags: list[Offsets | None] | None = None
    begin: list[Offsets | None] | None = None
    end: list[Offsets | None] | None = None
    committed: list[Offsets | None] | None = None
    rates: list[Rate | None] | None = None
    bytes_per_record: list[Positive | None] | None = None
    leaders: list[StrictStr | None] | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.lags is not None and any(getattr(self, name) is not None for name in _OFFSETS):
            raise ValueError("give lags, or the offsets that they follow from, not both")
        for name in _LISTS:
            values = getattr(self, name)
            if values is not None and len(values) != len(self.partitions):
                raise ValueError(
                    f"{name} has {len(values)} entries for {len(self.partitions)} partitions"
                )
        return self


class MemberCase(BaseModel):
    """A member of a case; `generation` None or -1 is none."""

    id: StrictStr
    topics: list[StrictStr]
    instance_id: StrictStr | None = None
    rack: StrictStr | None = None
    capacity: Positive | None = None
    owned: list[Pair] | None = None
    generation: Annotated[StrictInt, Field(ge=-1, lt=1 << 31)] | None = None
    user_data: dict[str, Any] | None = None
    config: dict[str, Any] | None = None


class OwnedInUserData(BaseModel):
    """What a sticky strategy's user data tells of a member; anything else may stand beside it."""

    owned: list[Pair] | None = None
    generation: Annotated[StrictInt, Field(ge=-1, lt=1 << 31)] | None = None


class CostsCase(BaseModel):
    """What crossing racks and changing owner cost; what is left out costs as in Kafka."""

    traffic: Number | None = None
    non_overlap: Number | None = None


class Case(BaseModel):
    """One line of input."""

    id: Any = None
    strategy: Annotated[StrictStr, Field(max_length=200)]
    topics: dict[StrictStr, TopicCase]
    members: list[MemberCase]
    costs: CostsCase | None = None
    auto_offset_reset: Annotated[StrictStr, AfterValidator(known_reset)] | None = None

    @field_validator("id")
    @classmethod
    def _is_a_name(cls, value: Any) -> Any:
        if value is not None and id_of({"id": value}) is None:
            raise ValueError("give text or a whole number")
        return value

    @model_validator(mode="after")
    def _distinct_members(self) -> Self:
        seen: set[str] = set()
        for index, member in enumerate(self.members):
            if member.id in seen:
                raise ValueError(f"members[{index}].id {member.id!r} is there twice")
            seen.add(member.id)
        return self


def parse_case(line: Mapping[str, Any]) -> Case:
    """
    The fields of one case, checked.

    Raises:
        InputError: It is no case; the message names the field.
    """
    try:
        return Case.model_validate(dict(line))
    except ValidationError as problem:
        raise InputError(explain(problem)) from None


def read_case(line: Mapping[str, Any]) -> tuple[GroupSpec, str]:
    """
    The group and the strategy's name of one case.

    Raises:
        InputError: It is no case; the message names the field.
    """
    case = parse_case(line)
    return group_of(case), case.strategy


def explain(problem: ValidationError) -> str:
    """The first few errors with their fields, in one line."""
    errors = problem.errors(include_url=False, include_context=False, include_input=False)
    texts = (error["msg"].removeprefix("Value error, ") for error in errors)
    fields = (_field(error["loc"]) for error in errors)
    shown = [f + text for f, text in zip(fields, texts, strict=True)][:_ERRORS_SHOWN]
    more = len(errors) - len(shown)
    return "; ".join(shown) + (f"; and {more} more." if more else ".")


def _field(path: Sequence[str | int]) -> str:
    """
    >>> _field(("members", 3, "topics"))
    'members[3].topics: '
    """
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return f"{text.lstrip('.')}: " if text else ""


def id_of(case: Mapping[str, Any]) -> str | int | None:
    """The id to answer under, None where it is not one."""
    name = case.get("id")
    return name if isinstance(name, str | int) and not isinstance(name, bool) else None


def group_of(case: Case) -> GroupSpec:
    """
    The strategies' input of a case.

    Raises:
        InputError: User data that one of our strategies would read is not as it writes it.
    """
    claims = [member.owned or [] for member in case.members]
    reported = [_reported(member, case.strategy) for member in case.members]
    named = [
        *(t for m in case.members for t in m.topics),
        *(t for pairs in claims for t, _ in pairs),
        *(t for data in reported for t, _ in (data or {}).get("owned") or ()),
    ]
    names = list(dict.fromkeys([*case.topics, *named]))
    present = list(case.topics.values())
    missing = [None] * (len(names) - len(present))
    generations = [None if m.generation == -1 else m.generation for m in case.members]
    built = build_spec(
        members=[m.id for m in case.members],
        instance_ids=[m.instance_id for m in case.members],
        member_racks=[m.rack for m in case.members],
        subscriptions=[m.topics for m in case.members],
        topics=names,
        topic_ids=[*(t.id for t in present), *missing],
        partition_counts=[*(len(t.partitions) for t in present), *missing],
        replica_racks=[racks for t in present for racks in t.partitions],
        leader_racks=_per_partition(present, "leaders"),
        owner=_owners(case.topics, claims, generations),
        owned=claims,
        generation=generations,
        user_data=reported,
        lag=_lag(present, case.auto_offset_reset),
        rate=_per_partition(present, "rates"),
        bytes_per_record=_per_partition(present, "bytes_per_record"),
        capacity=[m.capacity for m in case.members],
        config=[m.config or {} for m in case.members],
    )
    return replace(built, user_data=tuple(member.user_data for member in case.members))


def _lag(topics: Sequence[TopicCase], auto_offset_reset: str | None) -> Column:
    """Per partition the lag as strategies see it: given, or as its offsets say."""
    begin, end, committed = (Column.of(_per_partition(topics, name)) for name in _OFFSETS)
    unread = np.zeros(len(begin.values), np.bool_)
    offsets = ReadOffsets(begin=begin, end=end, committed=committed, commit_unread=unread)
    derived = measure_lag(offsets, OffsetReset.of(auto_offset_reset)).for_strategies.tolist()
    stated = [topic.lags is not None for topic in topics for _ in topic.partitions]
    given = _per_partition(topics, "lags")
    return Column.of(
        g if by_hand else d for g, d, by_hand in zip(given, derived, stated, strict=True)
    )


def _reported(member: MemberCase, strategy: str) -> dict[str, Any] | None:
    """What a member's user data says that it owned; of a custom strategy's user data only where it is written so."""
    if member.user_data is None:
        return None
    try:
        OwnedInUserData.model_validate(member.user_data)
    except ValidationError as problem:
        if strategy not in ASSIGNORS:
            return None
        raise InputError(f"user_data of member {member.id!r}: {explain(problem)}") from None
    return member.user_data


def _per_partition(topics: Sequence[TopicCase], name: str) -> list[Any]:
    """One value per partition of all topics, None where a topic has none."""
    return [
        value
        for topic in topics
        for value in getattr(topic, name) or [None] * len(topic.partitions)
    ]


def _owners(
    topics: Mapping[str, TopicCase],
    claims: Sequence[Sequence[Pair]],
    generations: Sequence[int | None],
) -> list[int]:
    """
    The member that owns each partition now, NONE for nobody.

    Of several that claim it, the one of the newest generation; when that does not decide, nobody is
    known to.
    """
    best: dict[Pair, tuple[int, int]] = {}
    for member, (pairs, generation) in enumerate(zip(claims, generations, strict=True)):
        age = NONE if generation is None else generation
        for pair in pairs:
            known, owner = best.get(pair, (age - 1, NONE))
            if age > known:
                best[pair] = age, member
            elif age == known and owner != member:
                best[pair] = age, NONE
    every = ((name, p) for name, topic in topics.items() for p in range(len(topic.partitions)))
    return [best[pair][1] if pair in best else NONE for pair in every]
