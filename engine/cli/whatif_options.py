"""What the options of `evenkeel whatif` mean for one group: changes as values, or an error that says what to write."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..advice import blocked
from ..followers.plan import NAME as PLAN
from ..followers.plan import Plan, PlanError, read_plan
from ..messages.wording import look_again, member_names, words
from ..model.errors import Infeasible, InputError
from ..model.groups import GroupSnapshot, Member
from ..model.text import listed, pasted, several
from ..pipeline.stored_metrics import NOT_MEASURED
from ..pipeline.whatif import (
    Can,
    Change,
    Grows,
    Joins,
    Leaves,
    SeenGroup,
    Stands,
    last_by_name,
    new_names,
)
from .custom import include_all
from .patterns import is_pattern, meant

ALL_NEW = "new"
"""How --rack and --capacity name all members that join."""

SHOWN = 10
"""As many names are listed."""

MOST_MEMBERS = 10_000
"""More members do not join at once."""

MOST_PARTITIONS = 100_000
"""More partitions a topic does not get."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options, as they were written."""

    members: Sequence[str] = ()
    without: Sequence[str] = ()
    partitions: Sequence[str] = ()
    racks: Sequence[str] = ()
    capacities: Sequence[str] = ()


def changes_of(group: GroupSnapshot, options: Options) -> tuple[Change, ...]:
    """
    What is asked about, in the order in which it is done: who leaves, who joins, topics, racks, capacities.

    Args:
        group: The group as it is, with members.
        options: The options.

    Raises:
        InputError: One of them is not what it has to be, or names what is not there.
    """
    gone = [_member(group.members, name, "--without") for name in dict.fromkeys(options.without)]
    left = [member for member in group.members if member not in gone]
    more = sum(map(_count, options.members))
    picked = last_by_name(left, -more) if more < 0 else []
    stay = [member for member in left if member not in picked]
    names = new_names(group.members, max(more, 0))
    if not stay and not names:
        going = len(group.members) - len(left) - min(more, 0)
        raise InputError(
            f"group {group.group} has {several(len(group.members), 'member')}: without {going:,} nobody would be left.",
            fix="Let fewer leave.",
        )
    known = _Known(stay, names)
    return (
        *(Leaves(member=member.id) for member in gone),
        *(Leaves(member=member.id, picked=True) for member in picked),
        *(Joins(member=name) for name in names),
        *(_grown(group, text) for text in options.partitions),
        *(each for text in options.racks for each in known.stand(text)),
        *(each for text in options.capacities for each in known.can(text)),
    )


def _count(text: str) -> int:
    """
    >>> _count("+2"), _count("-1")
    (2, -1)
    """
    sign, digits = text[:1], text[1:]
    if sign not in ("+", "-") or not (digits.isascii() and digits.isdecimal()) or not int(digits):
        raise InputError(
            f"--members {text!r} is no number of members that join or leave.",
            fix="Write for example +2 or -1.",
        )
    if int(digits) > MOST_MEMBERS:
        raise InputError(f"--members {text} is too many.", fix=f"Use {MOST_MEMBERS:,} at most.")
    return int(text)


def _member(members: Sequence[Member], name: str, option: str) -> Member:
    """The member of that id, instance id, short name or client id."""
    meaning = _named(members, name)
    if len(meaning) == 1:
        return meaning[0]
    short = member_names(members)
    if meaning:
        shown = listed([f"{short[m.id]} ({m.id})" for m in meaning], SHOWN)
        raise InputError(
            f"{option} {name} means {len(meaning)} members: {shown}.",
            fix="Name one by its member id.",
        )
    near = meant(name, {*short.values(), *(m.instance_id or m.client_id for m in members)})
    there = f"The members are {listed(sorted(short.values()), SHOWN)}."
    raise InputError(f"{option} {name}: the group has no such member.", fix=near or there)


def _named(members: Sequence[Member], name: str) -> list[Member]:
    short = member_names(members)
    ways = (
        [member for member in members if member.id == name],
        [member for member in members if member.instance_id == name],
        [member for member in members if short[member.id] == name],
        [member for member in members if member.client_id == name],
    )
    return next((found for found in ways if found), [])


class _Known:
    """The members that --rack and --capacity can name: those that stay, and those that join."""

    def __init__(self, stay: Sequence[Member], names: Sequence[str]) -> None:
        self.stay, self.names = stay, names

    def stand(self, text: str) -> Iterator[Change]:
        """In which rack somebody is; of all who join, in which racks in turn."""
        who, rack = _pair("--rack", text, "MEMBER=RACK", "app-1=a, or new=a,b")
        racks = [one.strip() for one in rack.split(",")] if who == ALL_NEW else [rack]
        if who != ALL_NEW and "," in rack:
            raise InputError(
                f"--rack {text}: only those who join are put into several racks in turn.",
                fix="Give --rack once for each member.",
            )
        if not all(racks):
            raise InputError(f"--rack {text!r} has an empty rack.", fix="Name one.")
        for place, member in enumerate(self._ids("--rack", who)):
            yield Stands(member=member, rack=racks[place % len(racks)])

    def can(self, text: str) -> Iterator[Change]:
        """What somebody can consume."""
        who, number = _pair(
            "--capacity", text, "MEMBER=OFFSETS_PER_SECOND", "app-1=300, or '*=300'"
        )
        try:
            per_second = float(number)
        except ValueError:
            per_second = math.nan
        if not (0 < per_second < math.inf):
            raise InputError(
                f"--capacity {text}: {number!r} is no number of offsets per second above 0.",
                fix="Write for example app-1=300.",
            )
        for member in self._ids("--capacity", who):
            yield Can(member=member, per_second=per_second)

    def _ids(self, option: str, who: str) -> list[str]:
        """The member of that name, all who join, or whoever a shell pattern means."""
        if _named(self.stay, who):
            return [_member(self.stay, who, option).id]
        if who in self.names:
            return [who]
        if who == ALL_NEW and self.names:
            return list(self.names)
        short = member_names(self.stay)
        called = {m.id: [m.id, m.client_id, m.instance_id or "", short[m.id]] for m in self.stay}
        called |= {name: [name] for name in self.names}
        meaning = [member for member, names in called.items() if fnmatch.filter(names, who)]
        if is_pattern(who) and meaning:
            return meaning
        if who == ALL_NEW or who.startswith(f"{ALL_NEW}-"):
            joins = (
                f"those who join are {listed(self.names, SHOWN)}" if self.names else "nobody joins"
            )
            raise InputError(f"{option} {who}: {joins}.", fix="Let members join with --members +N.")
        return [_member(self.stay, who, option).id]


def _pair(option: str, text: str, form: str, example: str) -> tuple[str, str]:
    name, _, value = text.rpartition("=")
    if not name or not value:
        raise InputError(f"{option} {text!r} is not {form}.", fix=f"Write for example {example}.")
    return name, value


def _grown(group: GroupSnapshot, text: str) -> Grows:
    topic, number = _pair("--partitions", text, "TOPIC=NUMBER", "orders=24")
    table = group.partitions
    shared = {name for name, yes in zip(table.names, table.assignable, strict=True) if yes}
    if topic not in shared:
        there = f"It subscribes to {listed(sorted(shared), SHOWN)}."
        raise InputError(
            f"--partitions {topic}: the group subscribes to no such topic.",
            fix=meant(topic, shared) or there,
        )
    now = int(table.assignable[table.topic == table.topics.index(topic)].sum())
    if not (number.isascii() and number.isdecimal()) or int(number) > MOST_PARTITIONS:
        raise InputError(
            f"--partitions {text}: {number!r} is no number of partitions up to {MOST_PARTITIONS:,}.",
            fix=f"Write for example {topic}={now + 1}.",
        )
    if int(number) < now:
        raise InputError(
            f"--partitions {text}: topic {topic} has {several(now, 'partition')}, and Kafka takes none away.",
            fix=f"Use {now} or more.",
        )
    return Grows(topic=topic, partitions=int(number))


def named_of(strategies: Sequence[str] | None) -> list[str]:
    """
    The names of strategies given by name or by place; `evenkeel-plan` is what a group makes of its plan.

    Raises:
        InputError: One cannot be loaded.
    """
    return [PLAN if one == PLAN else include_all([one])[0] for one in strategies or ()]


def plan_in(file: Path) -> Plan:
    """
    The plan in a file.

    Raises:
        InputError: There is none.
    """
    try:
        return read_plan(file.read_bytes())
    except OSError as problem:
        raise InputError(f"--plan {file} cannot be read: {problem.strerror or problem}.") from None
    except PlanError as problem:
        raise InputError(
            f"--plan {file} is no plan: {problem}.", fix="`evenkeel plan` writes one."
        ) from None


def suits(group: GroupSnapshot, named: Sequence[str], plan: Plan | None) -> None:
    """
    Raises:
        InputError: The group follows no plan though one is named, or another group's.
    """
    if group.assignor != PLAN and (plan is not None or PLAN in named):
        raise InputError(
            f"group {group.group} follows no plan: it runs {group.assignor or 'no strategy'}.",
            fix=f"Leave --plan and --strategy {PLAN} out.",
        )
    if plan is not None and plan.group != group.group:
        raise InputError(
            f"the plan is made for group {plan.group!r}, this is {group.group!r}.",
            fix="Give the plan of this group.",
        )


def possible(seen: SeenGroup) -> None:
    """
    Raises:
        Infeasible: What would become of this group cannot be said, whatever changes.
    """
    group = seen.group
    problem = f"group {group.group}: what would become of it cannot be said"
    if group.places_tasks:
        raise Infeasible(
            f"{problem}, it is a Kafka Streams application, which assigns tasks and not partitions.",
            fix=f"`evenkeel tasks {pasted(group.group)}` shows them under each strategy.",
        )
    why = seen.measured_group.withheld or blocked(group)
    if why is not None or seen.measured_group.measured is None:
        raise Infeasible(f"{problem}: {words(why or NOT_MEASURED)}.", fix=look_again(group))
