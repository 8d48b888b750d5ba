"""
What would this strategy do with this group: JSON lines in, JSON lines out.

A case is one object: `id`, `strategy`, `topics` (name -> `partitions`, a list of racks per
partition; optionally `id`, `lags`, `rates`, `leaders`) and `members` in the order in which the
broker lists them (`id`, `topics`; optionally `instance_id`, `rack`, `owned`, `generation`,
`user_data`, `config`). The answer to each line is one object: `id` and `assignment`, or `id` and
`error`. Unknown fields are passed over, wrong values are errors that name the field. A case with
`tasks` is one of Kafka Streams: `evenkeel.engine.cli.task_cases`.

>>> topics = {"t": {"partitions": [[], []]}}
>>> members = [{"id": "C0", "topics": ["t"]}, {"id": "C1", "topics": ["t"]}]
>>> answer({"id": 7, "strategy": "range", "topics": topics, "members": members})
{'id': 7, 'assignment': {'C0': [['t', 0]], 'C1': [['t', 1]]}}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median
from time import perf_counter
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    Field,
    StrictInt,
    StrictStr,
    ValidationError,
    field_validator,
    model_validator,
)

from evenkeel.engine.assignor import Assignor, GroupSpec, build_spec
from evenkeel.engine.assignors import by_name
from evenkeel.engine.errors import EvenkeelError, InputError
from evenkeel.engine.kit.settle import settle
from evenkeel.engine.model import NONE, Column, Indices

_ERRORS_SHOWN = 3

Number = Annotated[StrictInt, Field(ge=0, lt=1 << 31)]
Offsets = Annotated[StrictInt, Field(ge=0, lt=1 << 63)]
Rate = Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)]
Pair = tuple[StrictStr, Number]


class TopicCase(BaseModel):
    """A topic of a case: the racks of each partition's replicas, None for a broker without one."""

    partitions: list[list[StrictStr | None]]
    id: StrictStr | None = None
    lags: list[Offsets | None] | None = None
    rates: list[Rate | None] | None = None
    leaders: list[StrictStr | None] | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        for name in ("lags", "rates", "leaders"):
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
    owned: list[Pair] | None = None
    generation: Annotated[StrictInt, Field(ge=-1, lt=1 << 31)] | None = None
    user_data: dict[str, Any] | None = None
    config: dict[str, Any] | None = None


class OwnedInUserData(BaseModel):
    """What a sticky strategy's user data tells of a member; anything else may stand beside it."""

    owned: list[Pair] | None = None
    generation: Annotated[StrictInt, Field(ge=-1, lt=1 << 31)] | None = None


class Case(BaseModel):
    """One line of input."""

    id: Any = None
    strategy: Annotated[StrictStr, Field(max_length=200)]
    topics: dict[StrictStr, TopicCase]
    members: list[MemberCase]

    @field_validator("id")
    @classmethod
    def _is_a_name(cls, value: Any) -> Any:
        if value is not None and _id_of({"id": value}) is None:
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


def read_case(line: Mapping[str, Any]) -> tuple[GroupSpec, str]:
    """
    The group and the strategy's name of one case.

    Raises:
        InputError: It is no case; the message names the field.
    """
    try:
        case = Case.model_validate(dict(line))
    except ValidationError as problem:
        raise InputError(_explain(problem)) from None
    return _group_of(case), case.strategy


def answer(
    case: Mapping[str, Any], *, repeat: int | None = None, settled: bool = False
) -> dict[str, Any]:
    """
    The answer to one case: its `id` and the `assignment`, every member present.

    Beside it, where there is any: `transferring` ([topic, partition, new owner] that must be given up first),
    `findings` (what is wrong with the assignment) and `proof` (what is proven of it).

    Args:
        case: A parsed line.
        repeat: Ask so many times, at least once, and add the median in `milliseconds`.
        settled: Follow the group until nothing waits to be given up, and add the `rounds` that takes.

    Raises:
        InputError: It is no case, or there is no such strategy.
        Infeasible: The strategy cannot run on this group.
    """
    if "tasks" in case:
        return _answer_tasks(case, repeat, settled)
    group, strategy = read_case(case)
    assignor = by_name(strategy)
    end = settle(assignor.assign, group) if settled else None
    answered = end.assignment if end else assignor.assign(group)
    assignment = {m: [[t, p] for t, p in pairs] for m, pairs in group.lists(answered).items()}
    result: dict[str, Any] = {"id": case.get("id"), "assignment": assignment}
    if answered.transferring is not None:
        result["transferring"] = _transferring(group, answered.transferring)
    if answered.findings:
        result["findings"] = list(answered.findings)
    if answered.proof is not None:
        result["proof"] = answered.proof
    if end is not None:
        result["rounds"] = end.rounds
    if repeat is not None:
        result["milliseconds"] = round(median(_times(assignor, group, repeat)), 3)
    return result


def _answer_tasks(case: Mapping[str, Any], repeat: int | None, settled: bool) -> dict[str, Any]:
    """The answer to a case of Kafka Streams (`evenkeel.engine.cli.task_cases`)."""
    from evenkeel.engine.cli.task_cases import answer_tasks

    try:
        return answer_tasks(case, repeat=repeat, settled=settled)
    except ValidationError as problem:
        raise InputError(_explain(problem)) from None


def _transferring(group: GroupSpec, to: Indices) -> list[list[Any]]:
    """What must be given up first: [topic, partition, member it is to go to], by (topic, partition)."""
    waiting = group.by_name[to[group.by_name] != NONE]
    topics, numbers = group.topic_of[waiting].tolist(), group.number_of[waiting].tolist()
    rows = zip(topics, numbers, to[waiting].tolist(), strict=True)
    return [[group.topics[topic], number, group.members[member]] for topic, number, member in rows]


def answer_lines(
    lines: Iterable[str | bytes], repeat: int | None = None, settled: bool = False
) -> Iterator[str]:
    """
    One JSON line for each line of input, in order; whatever is wrong with a line is its answer.

    Args:
        lines: Text, or bytes as they come in.
        repeat: As for `answer`.
        settled: As for `answer`.
    """
    for line in lines:
        name = None
        try:
            case = _parse(line)
            name = _id_of(case)
            result = answer(case, repeat=repeat, settled=settled)
        except EvenkeelError as problem:
            result = {"id": name, "error": str(problem)}
        except Exception as problem:  # noqa: BLE001 a custom strategy can raise anything
            result = {"id": name, "error": f"{type(problem).__name__}: {problem}"}
        yield json.dumps(result)


def _parse(line: str | bytes) -> dict[str, Any]:
    if not line.strip():
        raise InputError("the line is empty, not a case.")
    try:
        case = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError) as problem:
        raise InputError(f"the line is not JSON: {problem}.") from problem
    if not isinstance(case, dict):
        raise InputError(f"the line is a JSON {type(case).__name__}, not an object.")
    return case


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON number")


def _id_of(case: Mapping[str, Any]) -> str | int | None:
    """The id to answer under, None where it is not one."""
    name = case.get("id")
    return name if isinstance(name, str | int) and not isinstance(name, bool) else None


def _explain(problem: ValidationError) -> str:
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


def _times(assignor: Assignor, group: GroupSpec, repeat: int) -> Iterator[float]:
    """Milliseconds of each call, on a group that has worked nothing out before."""
    for _ in range(repeat):
        fresh = replace(group)
        began = perf_counter()
        assignor.assign(fresh)
        yield (perf_counter() - began) * 1000


def _group_of(case: Case) -> GroupSpec:
    claims = [member.owned or [] for member in case.members]
    told = [_user_data(member) for member in case.members]
    named = [
        *(t for m in case.members for t in m.topics),
        *(t for pairs in claims for t, _ in pairs),
        *(t for data in told for t, _ in (data or {}).get("owned") or ()),
    ]
    names = list(dict.fromkeys([*case.topics, *named]))
    present = list(case.topics.values())
    missing = [None] * (len(names) - len(present))
    generations = [None if m.generation == -1 else m.generation for m in case.members]
    return build_spec(
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
        user_data=told,
        lag=Column.of(_per_partition(present, "lags")),
        rate=_per_partition(present, "rates"),
        config=[m.config or {} for m in case.members],
    )


def _user_data(member: MemberCase) -> dict[str, Any] | None:
    """A member's user data, its `owned` and `generation` checked."""
    if member.user_data is None:
        return None
    try:
        OwnedInUserData.model_validate(member.user_data)
    except ValidationError as problem:
        raise InputError(f"user_data of member {member.id!r}: {_explain(problem)}") from None
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
