"""
What would this strategy do with this group: JSON lines in, JSON lines out.

The answer to each line is one object: `id` and `assignment`, or `id` and `error`. A field that there is not and a wrong
value are errors that name the field, and the nearest that there is. A case with `tasks` is of Kafka Streams
(`evenkeel.engine.cli.task_cases`); any other has `strategy`, `topics` and `members`, and may have `id`, `costs`,
`auto_offset_reset`, `explain`, and `subscription_type`, which follows from the members and is not read.

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
their subscription carries them, `user_data` (an object with what the sticky strategies know, `owned` and
`generation`; a custom strategy gets all of it in `GroupSpec.user_data`), and `config` (settings for custom strategies,
in `GroupSpec.config`; to one that needs user data also what a member would have sent that has none). As in Kafka,
`sticky` reads what members had in their user data alone, `cooperative-sticky` in their subscription alone: `notes` of
the answer say who is asked afresh because it stands in the other.

`costs` is what `min_traffic` and `balance_subtopology` weigh: `traffic` per partition that crosses racks, `non_overlap`
per partition that changes owner. Any other strategy refuses it. `explain` names a partition as [topic, partition]: the
steps that lead to its owner stand in `why`.

>>> topics = {"t": {"partitions": [[], []]}}
>>> members = [{"id": "C0", "topics": ["t"]}, {"id": "C1", "topics": ["t"]}]
>>> answer({"id": 7, "strategy": "range", "topics": topics, "members": members})
{'id': 7, 'assignment': {'C0': [['t', 0]], 'C1': [['t', 1]]}}
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from statistics import median
from time import perf_counter
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
from pydantic_core import ErrorDetails

from ..assignors import ASSIGNORS, by_name, takes_user_data
from ..assignors.flow.min_cost import Weights
from ..assignors.interface import Assignor, GroupSpec, build_spec
from ..assignors.kit.settle import settle
from ..assignors.kit.why import partition_of
from ..config.declarations import declared, keys_of
from ..config.faults import no_such
from ..config.rules import known_reset
from ..messages.wording import proof, words
from ..metrics.lag import OffsetReset, ReadOffsets, measure_lag
from ..model.arrays import NONE, Column, Indices
from ..model.errors import EvenkeelError, Infeasible, InputError
from ..model.facts import Fact, note
from ..model.text import listed

_ERRORS_SHOWN = 3
_NO_WORDS_OF_OURS = re.compile(r"^Value error, | or instance of \w+$")
"""What pydantic says besides, of Python and of the classes here."""
STICKY = ("sticky", "cooperative-sticky")
"""The strategies that read user data: *owned* and *generation*, nothing else."""
_OFFSETS = ("begin", "end", "committed")

Number = Annotated[StrictInt, Field(ge=0, lt=1 << 31)]
Offsets = Annotated[StrictInt, Field(ge=0, lt=1 << 63)]
Generation = Annotated[StrictInt, Field(ge=-1, lt=1 << 31)]
Rate = Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)]
Pair = tuple[StrictStr, Number]
StrategyName = Annotated[StrictStr, Field(max_length=200)]


class Racks(BaseModel, extra="forbid"):
    """A topic: the racks of each partition's replicas, None for a broker without one, none for unknown."""

    partitions: list[list[StrictStr | None]]


class TopicCase(Racks):
    """A topic with what is known of each partition."""

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
        lists = {name: values for name, values in self if isinstance(values, list)}
        for name, values in lists.items():
            if len(values) != len(self.partitions):
                raise ValueError(
                    f"{name} has {len(values)} entries for {len(self.partitions)} partitions"
                )
        return self


class OwnedCase(BaseModel, extra="forbid"):
    """What a subscription, or a sticky strategy's user data, tells of a member; `generation` None or -1 is none."""

    owned: list[Pair] | None = None
    generation: Generation | None = None


class MemberCase(OwnedCase):
    """A member of a case."""

    id: StrictStr
    topics: list[StrictStr]
    instance_id: StrictStr | None = None
    rack: StrictStr | None = None
    capacity: Positive | None = None
    user_data: dict[str, Any] | None = None
    config: dict[str, Any] | None = None


class CostsCase(BaseModel, extra="forbid"):
    """What crossing racks and changing owner cost; what is left out costs as in Kafka."""

    traffic: Number | None = None
    non_overlap: Number | None = None


class Case(BaseModel, extra="forbid"):
    """One line of input."""

    id: Any = None
    strategy: StrategyName
    topics: dict[StrictStr, TopicCase]
    members: list[MemberCase]
    costs: CostsCase | None = None
    auto_offset_reset: Annotated[StrictStr, AfterValidator(known_reset)] | None = None
    explain: Pair | None = None
    subscription_type: Any = None

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


def answer(
    case: Mapping[str, Any], *, repeat: int | None = None, settled: bool = False
) -> dict[str, Any]:
    """
    The answer to one case: its `id` and the `assignment`, every member present.

    Beside it, where there is any: `transferring` ([topic, partition, new owner] that must be given up first),
    `findings` (what is wrong with the assignment), `notes` (what of the case the strategy does not read) and `proof`
    (what is proven of the assignment).

    Args:
        case: A parsed line.
        repeat: Ask so many times, at least once, and add the median in `milliseconds`.
        settled: Follow the group until nothing waits to be given up, and add the `rounds` that takes.

    Raises:
        InputError: It is no case, or there is no such strategy.
        Infeasible: The strategy cannot run on this group.
    """
    if "tasks" in case:
        from .task_cases import ApplicationCase, answer_tasks

        with _fields_named(ApplicationCase):
            return answer_tasks(case, repeat=repeat, settled=settled)
    read = _parsed(case)
    group, assignor = _group_of(read), _weighing(by_name(read.strategy), read.costs)
    end = settle(assignor.assign, group) if settled else None
    answered = end.assignment if end else assignor.assign(group)
    assignment = {m: [[t, p] for t, p in pairs] for m, pairs in group.lists(answered).items()}
    result: dict[str, Any] = {"id": case.get("id"), "assignment": assignment}
    if answered.transferring is not None:
        result["transferring"] = _transferring(group, answered.transferring)
    if answered.findings:
        result["findings"] = [words(flaw) for flaw in answered.findings]
    if unread := _unread(read):
        result["notes"] = [words(unread)]
    if answered.proof:
        result["proof"] = proof(answered.proof)
    if read.explain is not None:
        result["why"] = _why(group, assignor, read.explain)
    if end is not None:
        result["rounds"] = end.rounds
    if repeat is not None:
        # each time a group that has worked nothing out before
        result |= timed(partial(assignor.assign, replace(group)) for _ in range(repeat))
    return result


def _why(group: GroupSpec, assignor: Assignor, pair: Pair) -> list[str]:
    """The steps that lead to the owner of a partition."""
    topic, number = pair
    partition = partition_of(group, topic, number)
    if partition is None:
        raise InputError(f"explain: there is no partition {topic}-{number}.")
    explain = getattr(assignor, "explain", None)
    if explain is None:
        raise InputError(f"explain: {assignor.name} does not explain its steps.")
    return [words(step) for step in explain(group, partition)]


def timed(calls: Iterable[Callable[[], object]]) -> dict[str, float]:
    """The median time of some calls, as an answer has it."""
    times = []
    for call in calls:
        began = perf_counter()
        call()
        times.append((perf_counter() - began) * 1000)
    return {"milliseconds": round(median(times), 3)}


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
            case = _object(line)
            name = _id_of(case)
            result = answer(case, repeat=repeat, settled=settled)
        except EvenkeelError as problem:
            result = {"id": name, "error": str(problem)}
        except Exception as problem:  # noqa: BLE001 a custom strategy can raise anything
            result = {"id": name, "error": f"{type(problem).__name__}: {problem}"}
        yield json.dumps(result)


def read_case(line: Mapping[str, Any]) -> tuple[GroupSpec, str]:
    """
    The group and the strategy's name of one case.

    Raises:
        InputError: It is no case; the message names the field.
    """
    case = _parsed(line)
    return _group_of(case), case.strategy


def _object(line: str | bytes) -> dict[str, Any]:
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


def _parsed(line: Mapping[str, Any]) -> Case:
    with _fields_named(Case):
        return Case.model_validate(dict(line))


@contextmanager
def _fields_named(model: type[BaseModel], of: str = "") -> Iterator[None]:
    """
    Args:
        model: What is read.
        of: What that is, where it is not all of the line.

    Raises:
        InputError: In place of a ValidationError: its first few errors with their fields, in one line.
    """
    try:
        yield
    except ValidationError as problem:
        errors = problem.errors(include_url=False, include_context=False, include_input=False)
        texts = [f"{_field(e['loc'])}{_fault(e, model)}" for e in errors]
        more = len(texts) - _ERRORS_SHOWN
        end = f"; and {more} more." if more > 0 else "."
        raise InputError(f"{of}{'; '.join(texts[:_ERRORS_SHOWN])}{end}") from None


def _fault(error: ErrorDetails, model: type[BaseModel]) -> str:
    """What is wrong with a field."""
    if error["type"] != "extra_forbidden":
        return _NO_WORDS_OF_OURS.sub("", error["msg"])
    *_, name = place = error["loc"]
    return no_such("field", str(name), keys_of(declared(model, place)[0]))


def _field(path: Sequence[str | int]) -> str:
    """
    >>> _field(("members", 3, "topics"))
    'members[3].topics: '
    """
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return f"{text.lstrip('.')}: " if text else ""


def _weighing(assignor: Assignor, costs: CostsCase | None) -> Assignor:
    if costs is None:
        return assignor
    usual = getattr(assignor, "weights", None)
    if not isinstance(usual, Weights):
        raise InputError(
            f"costs: {assignor.name} weighs none.",
            fix="Leave them out, or ask min_traffic or balance_subtopology.",
        )
    given = {"traffic": costs.traffic, "move": costs.non_overlap}
    weights = replace(usual, **{name: cost for name, cost in given.items() if cost is not None})
    return type(assignor)(weights=weights)  # type: ignore[call-arg]  # what has weights takes them


def _transferring(group: GroupSpec, to: Indices) -> list[list[Any]]:
    """What must be given up first: [topic, partition, member it is to go to], by (topic, partition)."""
    waiting = group.by_name[to[group.by_name] != NONE]
    topics, numbers = group.topic_of[waiting].tolist(), group.number_of[waiting].tolist()
    rows = zip(topics, numbers, to[waiting].tolist(), strict=True)
    return [[group.topics[topic], number, group.members[member]] for topic, number, member in rows]


def _group_of(case: Case) -> GroupSpec:
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
    return replace(built, user_data=_user_data(case))


def _user_data(case: Case) -> tuple[Mapping[str, Any] | None, ...]:
    """
    Sent; to a custom strategy that needs it, of a member that sent none what is configured.

    Raises:
        Infeasible: It needs them, and of a member there is neither.
    """
    if not takes_user_data(by_name(case.strategy)):
        return tuple(member.user_data for member in case.members)
    known = [m.config if m.user_data is None else m.user_data for m in case.members]
    missing = [m.id for m, data in zip(case.members, known, strict=True) if data is None]
    if missing:
        raise Infeasible(
            f"it needs the user data of its members; of {len(missing)} of {len(known)} ({listed(missing)}) none is "
            "given.",
            fix="Give each user_data, or config.",
        )
    return tuple(known)


def _reported(member: MemberCase, strategy: str) -> dict[str, Any] | None:
    """What a member's user data says that it owned; of a custom strategy's user data only where it is written so."""
    if member.user_data is None:
        return None
    try:
        with _fields_named(OwnedCase, f"user_data of member {member.id!r}: "):
            OwnedCase.model_validate(_read_of(member.user_data, strategy))
    except InputError:
        if strategy in ASSIGNORS:
            raise
        return None
    return member.user_data


def _unread(case: Case) -> Fact | None:
    """The members of which a sticky strategy knows nothing, because what they had stands where it does not look."""

    def had(member: MemberCase) -> tuple[object, object]:
        """What it had by what the strategy does not read, and by what it reads."""
        own, sent = member.owned, (member.user_data or {}).get("owned")
        return (own, sent) if case.strategy == STICKY[0] else (sent, own)

    if case.strategy not in STICKY:
        return None
    silent = [m.id for m in case.members if had(m)[0] and not had(m)[1]]
    return note(f"read_by_{case.strategy.replace('-', '_')}", silent) if silent else None


def _read_of(user_data: Mapping[str, Any], strategy: str) -> Mapping[str, Any]:
    """What is looked at of user data: of a strategy that reads none, or more than this, what is called so."""
    if strategy in STICKY:
        return user_data
    return {name: user_data[name] for name in keys_of(OwnedCase) if name in user_data}


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


def _lag(topics: Sequence[TopicCase], auto_offset_reset: str | None) -> Column:
    """Per partition the lag as strategies see it: given, or as its offsets say."""
    begin, end, committed = (Column.of(_per_partition(topics, name)) for name in _OFFSETS)
    unread = np.zeros(len(begin.values), np.bool_)
    offsets = ReadOffsets(
        begin=begin,
        end=end,
        committed=committed,
        commit_unread=unread,
        reported_lag=Column.unknown(len(unread)),
    )
    derived = measure_lag(offsets, OffsetReset.of(auto_offset_reset)).for_strategies.tolist()
    stated = [topic.lags is not None for topic in topics for _ in topic.partitions]
    given = _per_partition(topics, "lags")
    return Column.of(
        g if by_hand else d for g, d, by_hand in zip(given, derived, stated, strict=True)
    )
