"""What the options of `evenkeel whatif` mean for one group: changes as values, or an error with a fix."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from ..config import StreamsSettings
from ..config.declarations import keys_of
from ..config.faults import no_such
from ..followers.plan import NAME as PLAN
from ..followers.plan import Plan, PlanError, read_plan
from ..messages.wording import look_again, member_names, words
from ..model.errors import Infeasible, InputError
from ..model.groups import GroupSnapshot, Member
from ..model.states import GroupType
from ..model.text import listed, meant, several
from ..pipeline.whatif import (
    Can,
    Change,
    Grows,
    HasThreads,
    Joins,
    Leaves,
    SeenGroup,
    Stands,
    WithoutRack,
    last_by_name,
    members_in,
    new_names,
    racks_of,
    why_not,
)
from ..streams.settings import RackStrategy, StickyTasks
from .custom import include_all, name_of
from .patterns import is_pattern

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
    threads: Sequence[str] = ()
    settings: Sequence[str] = ()
    lost: Sequence[str] = ()


def changes_of(group: GroupSnapshot, options: Options) -> tuple[Change, ...]:
    """
    What is asked about, in the order in which it is done: who leaves, who joins, topics, racks, capacities.

    Args:
        group: The group, with members.
        options: The options.

    Raises:
        InputError: One of them is not what it has to be, or names what is not there.
        Infeasible: Racks are lost, and no member would be left, or no member's rack is known.
    """
    lost = [_rack(group, name) for name in dict.fromkeys(options.lost)]
    gone = [_member(group.members, name, "--without") for name in dict.fromkeys(options.without)]
    gone += [one for one in members_in(group.members, lost) if one not in gone]
    left = [member for member in group.members if member not in gone]
    more = sum(map(_count, options.members))
    picked = last_by_name(left, -more) if more < 0 else []
    stay = [member for member in left if member not in picked]
    names = new_names(group.members, max(more, 0))
    if not stay and not names:
        going = len(group.members) - len(left) - min(more, 0)
        # of many groups, those that end with the rack are told, and the others are asked on
        raise (Infeasible if lost else InputError)(
            f"group {group.group} has {several(len(group.members), 'member')}: "
            f"without {going:,} no member would be left.",
            fix="Add members: --members +1 --rack new=RACK." if lost else "Let fewer leave.",
        )
    known = _Known(stay, names, lost)
    return (
        *(WithoutRack(rack=rack) for rack in lost),
        *(Leaves(member=member.id) for member in gone),
        *(Leaves(member=member.id, picked=True) for member in picked),
        *(Joins(member=name) for name in names),
        *(_grown(group, text) for text in options.partitions),
        *(each for text in options.racks for each in known.stand(text)),
        *(each for text in options.capacities for each in known.can(text)),
    )


def task_changes_of(group: GroupSnapshot, options: Options) -> tuple[Change, ...]:
    """
    As `changes_of` for an application of Kafka Streams: its instances leave, join and stand, and have threads.

    Args:
        group: It by its instances.
        options: The options.

    Raises:
        InputError: As for `changes_of`; or one makes no sense where tasks are assigned.
    """
    if options.capacities:
        raise InputError(
            f"--capacity {options.capacities[0]}: what instances of {group.group} can do decides nothing of its tasks.",
            fix="Leave it out: the incoming rate of each instance is shown.",
        )
    changes = changes_of(group, options)
    gone = {change.member for change in changes if isinstance(change, Leaves)}
    known = _Known(
        [member for member in group.members if member.id not in gone],
        [change.member for change in changes if isinstance(change, Joins)],
    )
    return (*changes, *(each for text in options.threads for each in known.run(text)))


def settings_of(group: GroupSnapshot, texts: Sequence[str]) -> dict[str, object]:
    """
    The settings of an application that are different, by our names.

    Raises:
        InputError: One is none, has another kind of value, or is none where the broker assigns (KIP-1071).
    """
    told: dict[str, object] = {}
    for text in texts:
        name, value = _pair("--set", text, "SETTING=VALUE", "num.standby.replicas=1")
        key = name.removeprefix("streams.").replace(".", "_")
        known = sorted(set(keys_of(StreamsSettings)) - {"changelogs"})
        if group.type is GroupType.STREAMS:
            known = ["num_standby_replicas"]
        if key not in known:
            raise InputError(
                f"--set {text}: {no_such('setting', key, known)}.",
                fix="The broker assigns its tasks (KIP-1071): set streams.num.standby.replicas of the group."
                if group.type is GroupType.STREAMS
                else None,
            )
        several = key == "rack_aware_assignment_tags"
        try:
            read = StreamsSettings.model_validate({key: value.split(",") if several else value})
        except ValidationError as problem:
            why = problem.errors()[0]["msg"].removeprefix("Value error, ")
            raise InputError(f"--set {text}: {why}.") from None
        told[key] = getattr(read, key)
    return told


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


def _rack(group: GroupSnapshot, name: str) -> str:
    """A rack of a member or of a broker, of a group of which members' racks are known."""
    if not any(member.rack for member in group.members):
        raise Infeasible(
            f"--without-rack {name}: the rack of no member of {group.group} is known.",
            fix="Set client.rack on them, or name them in `racks` of a rule in evenkeel.toml; --without MEMBER lets one"
            " leave.",
        )
    racks = racks_of(group)
    if name not in racks:
        raise InputError(
            f"--without-rack {name}: no member and no broker is in such a rack.",
            fix=meant(name, racks) or f"The racks are {listed(sorted(racks), SHOWN)}.",
        )
    return name


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

    def __init__(
        self, stay: Sequence[Member], names: Sequence[str], lost: Sequence[str] = ()
    ) -> None:
        self.stay, self.names, self.lost = stay, names, lost

    def stand(self, text: str) -> Iterator[Change]:
        """The rack of a member; of all new members, racks in turn."""
        who, rack = _pair("--rack", text, "MEMBER=RACK", "app-1=a, or new=a,b")
        racks = [one.strip() for one in rack.split(",")] if who == ALL_NEW else [rack]
        if who != ALL_NEW and "," in rack:
            raise InputError(
                f"--rack {text}: only new members are put into several racks in turn.",
                fix="Give --rack once for each member.",
            )
        if not all(racks):
            raise InputError(f"--rack {text!r} has an empty rack.", fix="Name one.")
        if ended := set(racks).intersection(self.lost):
            raise InputError(f"--rack {text}: rack {min(ended)} is lost.", fix="Name another.")
        for place, member in enumerate(self._ids("--rack", who)):
            yield Stands(member=member, rack=racks[place % len(racks)])

    def can(self, text: str) -> Iterator[Change]:
        """The capacity of a member."""
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

    def run(self, text: str) -> Iterator[Change]:
        """How many threads an instance has."""
        who, number = _pair("--threads", text, "INSTANCE=N", "app-1=4, or '*=4'")
        if not (number.isascii() and number.isdecimal()) or not 0 < int(number) <= MOST_MEMBERS:
            raise InputError(
                f"--threads {text}: {number!r} is no number of threads up to {MOST_MEMBERS:,}.",
                fix="Write for example app-1=4.",
            )
        for member in self._ids("--threads", who):
            yield HasThreads(member=member, threads=int(number))

    def _ids(self, option: str, who: str) -> list[str]:
        """The member of that name, all new members, or those that match a shell pattern."""
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
                f"new members are {listed(self.names, SHOWN)}" if self.names else "no member joins"
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
    return [one if one == PLAN else name_of(one) for one in strategies or ()]


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


def suits(group: GroupSnapshot, named: Sequence[str], plan: Plan | None, options: Options) -> None:
    """
    Raises:
        InputError: The group follows no plan though one is named, or another group's; or it places no tasks, and has no
            threads, settings and strategies of those that do.
    """
    for option, texts in (("--threads", options.threads), ("--set", options.settings)):
        if texts and not group.places_tasks:
            raise InputError(
                f"{option} {texts[0]}: group {group.group} is no Kafka Streams application.",
                fix="Leave it out; --members, --rack and --capacity describe its members.",
            )
    if not group.places_tasks:
        # no strategies of partitions go by these names
        include_all([one for one in named if one in {RackStrategy.NONE, *StickyTasks}])
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
        Infeasible: This group cannot be forecast, whatever changes.
    """
    group = seen.group
    if why := why_not(seen):
        problem = f"group {group.group}: it cannot be forecast"
        raise Infeasible(f"{problem}: {words(why)}.", fix=look_again(group))
