"""How a strategy is asked, and what it learns of each member: what configuration says of it, and what it sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..advice import runs
from ..assignors import ASSIGNORS, takes_user_data
from ..assignors.interface import Assignor, GroupSpec
from ..assignors.promises.ask import NoAnswer, ask
from ..config import Rule
from ..model.assignments import Assignment
from ..model.errors import Infeasible
from ..model.groups import GroupSnapshot, Member
from ..model.text import listed, named, one_line, shortened

NAMED = 3
"""As many members are named in a reason."""

LONGEST = 160
"""As many characters are told of why bytes cannot be read: what raises it may quote them."""


def assign_of(strategy: Assignor) -> Callable[[GroupSpec], Assignment]:
    """
    How a strategy is asked. A custom one gets a group of its own, and its answer must fit: whatever it does costs the
    others neither their rows nor their input.
    """
    if strategy is ASSIGNORS.get(strategy.name):
        return strategy.assign

    def assign(group: GroupSpec) -> Assignment:
        answer = ask(strategy, group)
        if isinstance(answer, Infeasible):
            raise answer
        return answer

    return assign


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
        Infeasible: The data of a member is not known.
        NoAnswer: What a member sent cannot be read.
    """
    if not takes_user_data(strategy):
        return spec
    elected = bool(runs(group, strategy.name))
    known: list[Mapping[str, Any] | None] = []
    unread: list[tuple[str, ValueError]] = []
    for member in group.members:
        sent = member.user_data if elected else None
        try:
            known.append(_read(strategy, sent) if sent else _configured(rule, member) or None)
        except ValueError as problem:
            unread.append((member.identity, problem))
    if unread:
        who = named([member for member, _ in unread], "member", "has", "have", NAMED)
        raise NoAnswer(f"{who} sent what it cannot read: {unread[0][1]}")
    missing = [m.identity for m, data in zip(group.members, known, strict=True) if data is None]
    if missing:
        why = f"the group runs {group.assignor or 'another strategy'}, which sends none for it"
        raise Infeasible(
            f"it needs the user data of its members; of {len(missing)} of {len(group.members)} "
            f"({listed(missing, NAMED)}) none is known: {'they sent none' if elected else why}.",
            fix="Say it of the members in [[rules]], as members = {...}.",
        )
    return replace(spec, user_data=tuple(known))


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
