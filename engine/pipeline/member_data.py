"""How a strategy is asked, and what it learns of each member: what configuration says of it, and what it sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..advice import runs
from ..assignors import is_ours
from ..assignors.interface import Assignor, GroupSpec
from ..assignors.promises.ask import NoAnswer, ask
from ..config import Rule
from ..model.assignments import Assignment
from ..model.errors import Infeasible
from ..model.groups import GroupSnapshot, Member
from ..model.text import listed

NAMED = 3
"""As many members are named in a reason."""


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


def settings_of(rule: Rule, member: Member) -> dict[str, Any]:
    """A member's `config`: who and where it is, and what configuration says of it on top."""
    wire = {"client_id": member.client_id, "host": member.host.removeprefix("/")}
    return wire | _configured(rule, member)


def _configured(rule: Rule, member: Member) -> dict[str, Any]:
    return rule.member_data(member.client_id, member.host, member.instance_id)


def takes_user_data(strategy: Assignor) -> bool:
    """Whether it is a custom strategy that needs the user data of its members: ours read what members own there."""
    return "user_data" in strategy.needs and not is_ours(strategy)


def with_user_data(
    strategy: Assignor, group: GroupSnapshot, rule: Rule, spec: GroupSpec
) -> GroupSpec:
    """
    The group with the user data that a custom strategy needs; of a strategy of ours, and of one that needs none, as is.

    A group that runs the strategy has what its members sent; where it does not, or a member sent none, configuration
    can say it.

    Raises:
        Infeasible: The data of a member is not known.
        NoAnswer: The strategy failed to read what a member sent.
    """
    if not takes_user_data(strategy):
        return spec
    read = getattr(strategy, "read_user_data", None)
    sends = bool(runs(group, strategy.name)) and read is not None
    known = [
        _read(read, member.user_data)
        if sends and member.user_data is not None
        else _configured(rule, member) or None
        for member in group.members
    ]
    missing = [m.identity for m, data in zip(group.members, known, strict=True) if data is None]
    if missing:
        why = "its class has no read_user_data to read what they sent"
        if not runs(group, strategy.name):
            why = f"the group runs {group.assignor or 'another strategy'}, which sends none for it"
        elif read is not None:
            why = "they sent none"
        raise Infeasible(
            f"it needs the user data of its members; of {len(missing)} of {len(group.members)} "
            f"({listed(missing, NAMED)}) none is known: {why}.",
            fix="Say it of the members in [[rules]], as members = {...}.",
        )
    return replace(spec, user_data=tuple(known))


def _read(read: Any, sent: bytes) -> Mapping[str, Any]:
    try:
        return dict(read(sent))
    except Exception as problem:
        raise NoAnswer(f"read_user_data raised {type(problem).__name__}: {problem}") from problem
