"""How a strategy is asked, and what it learns of each member: what configuration says of it, and what it sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..advice import runs
from ..assignors import is_ours, takes_user_data
from ..assignors.interface import Answers, Assignor, GroupSpec, answering
from ..assignors.promises.ask import ask
from ..config import Rule
from ..messages.wording import words
from ..model.assignments import Assignment
from ..model.errors import Infeasible
from ..model.facts import reason
from ..model.groups import GroupSnapshot, Member
from ..model.text import one_line, shortened

LONGEST = 160
"""As many characters are told of why bytes cannot be read: what raises it may quote them."""


def assign_of(strategy: Assignor) -> Callable[[GroupSpec], Assignment]:
    """
    How a strategy is asked. A custom one gets a group of its own, and its answer must fit: whatever it does costs the
    others neither their rows nor their input.
    """
    if is_ours(strategy):
        return strategy.assign

    def assign(group: GroupSpec) -> Assignment:
        answer = ask(strategy, group)
        if isinstance(answer, Infeasible):
            raise answer
        return answer

    return assign


def takes_many(strategy: Assignor) -> bool:
    """Whether a strategy is asked about many groups at once: one of ours that can be."""
    return is_ours(strategy) and hasattr(strategy, "assign_many")


def answers_of(strategy: Assignor) -> Callable[[GroupSpec], Answers]:
    """How a strategy is asked about many groups at once; one that does not take many, about one."""
    if takes_many(strategy):
        many: Callable[[GroupSpec], Answers] = strategy.assign_many  # type: ignore[attr-defined]
        return many
    return answering(assign_of(strategy))


def settings_of(rule: Rule, member: Member) -> dict[str, Any]:
    """A member's `config`: who and where it is, and what configuration says of it on top."""
    wire = {"client_id": member.client_id, "host": member.host.removeprefix("/")}
    return wire | _configured(rule, member)


def _configured(rule: Rule, member: Member) -> dict[str, Any]:
    return rule.member_data(member.client_id, member.host, member.instance_id)


def with_user_data(
    strategy: Assignor, group: GroupSnapshot, rule: Rule, spec: GroupSpec
) -> GroupSpec:
    """
    The group with the user data that a custom strategy needs; of a strategy of ours, and of one that needs none, as is.

    What a member sent counts as a whole, for that is all its leader sees; configuration says it of a member that sent
    none, and of all while the group runs something else.

    Raises:
        Infeasible: What a member sent, or would send, is not known or cannot be read.
    """
    if not takes_user_data(strategy):
        return spec
    elected = bool(runs(group, strategy.name))
    known: list[Mapping[str, Any]] = []
    unknown, unread, problems = [], [], []
    for member in group.members:
        sent = member.user_data if elected else None
        try:
            known.append(_read(strategy, sent) if sent else _configured(rule, member))
        except ValueError as problem:
            unread.append(member.identity)
            problems.append(str(problem))
            continue
        if not sent and not known[-1]:
            unknown.append(member.identity)
    if unread:
        raise _refusal("user_data_unreadable", group, unread, problems[0])
    if unknown:
        running = None if elected else group.assignor or "another strategy"
        raise _refusal("user_data_unknown", group, unknown, running)
    return replace(spec, user_data=tuple(known))


def _refusal(
    measure: str, group: GroupSnapshot, members: Sequence[str], quote: str | None
) -> Infeasible:
    why = reason(measure, members, after=len(members), bound=len(group.members), quote=quote)
    return Infeasible(words(why), why=why)


def _read(strategy: Assignor, sent: bytes) -> Mapping[str, Any]:
    """
    What a member sent, as its strategy reads it: by a method of its own, else as a JSON object.

    Raises:
        ValueError: It does not read; why, in one short line.
    """
    try:
        found = getattr(strategy, "read_user_data", json.loads)(sent)
    except (Exception, SystemExit) as problem:
        told = one_line(f"{type(problem).__name__}: {problem}")
        raise ValueError(shortened(told, LONGEST)) from problem
    if not isinstance(found, Mapping):
        raise ValueError(f"it reads as {type(found).__name__}, not as names and values")
    return found
