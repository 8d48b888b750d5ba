"""
How a group gets from one strategy to another: rolling restarts, and what it elects on the way.

A member is let in only if its list shares a strategy with everybody's, so the one in force stays
listed until all list the new one (KIP-429's double bounce). What each restart brings is not taken
from a table: the election is held after every restarted member.

* All list the new one: one restart. An eager one goes first; a cooperative one stands alone, since a
  Java member that lists an eager one beside it gives everything up at a rebalance like an eager one.
* They do not, and it is eager: one restart with `new,old`; a second one drops the old, if wanted.
* They do not, and it is cooperative: two, with `new,old`, then with `new` alone.

>>> way = plan("cooperative-sticky", "range", [("range",)] * 3)
>>> [step.lists for step in way.steps]
[('cooperative-sticky', 'range'), ('cooperative-sticky',)]
>>> [(stage.first, stage.last, stage.elected) for stage in way.steps[0].stages]
[(1, 2, 'range'), (3, 3, 'cooperative-sticky')]

Source: KIP-429; `ClassicGroup`, `ConsumerGroup` and `ConsumerCoordinator` of Kafka 4.3. Which lists
other clients refuse was tried with librdkafka 2.16 and read in kafka-python 3.0.

What it does not do: plan a move to another group protocol (`group.protocol`), or know which client
library a member uses; the notes say what differs between them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..assignors.kafka.election import common, poll
from ..assignors.kafka.protocol_names import (
    CLIENT_SIDE,
    SERVER_SETTING,
    SERVER_SIDE,
    cooperative,
    mixed,
    setting,
    wire_name,
)
from ..model.errors import InputError
from ..model.facts import Fact, note, reason, step
from ..model.states import STREAMS_PROTOCOL
from .rolling_restart import RestartStage, rolling

Names = tuple[str, ...]
_Restart = tuple[Names, Fact, bool]

ALREADY_RUNNING = step("already_running")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """
    One rolling restart of all members.

    Attributes:
        setting: What is set for it, as a Java client writes it.
        lists: Each member's list after it, by wire names, as librdkafka writes it.
        why: What it is for.
        stages: What is elected after how many restarts; nothing where the broker decides.
        eager: Whether a Java member with this list gives everything up at a rebalance; None unknown.
        needed: False for a restart that may as well be left out.
    """

    setting: str
    lists: Names
    why: Fact
    stages: tuple[RestartStage, ...] = ()
    eager: bool | None = None
    needed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartPlan:
    """
    The way to a strategy.

    Attributes:
        target, present: Wire names; *present* is what the group runs now.
        members: How many there are to restart.
        steps: In order; none when the group is there already.
        how: The same in short.
        in_one_step: What would go wrong without the first step; nothing when there is no such step.
        notes: What else has to be known.
        assumed: What is taken for granted because lists are not known.
    """

    target: str
    present: str | None
    members: int
    steps: tuple[Step, ...]
    how: tuple[Fact, ...]
    in_one_step: tuple[Fact, ...] = ()
    notes: tuple[Fact, ...] = ()
    assumed: Fact | None = None

    @property
    def restarts(self) -> int:
        """How many rolling restarts it takes until the strategy runs as it should."""
        return sum(each.needed for each in self.steps)


def plan(
    target: str,
    present: str,
    lists: Sequence[Names | None],
    static: Sequence[bool] | None = None,
) -> RestartPlan:
    """
    The way of a classic group.

    Args:
        target: The strategy it shall run, by any of its names.
        present: What it has elected, by its wire name: all members list it.
        lists: Each member's list by wire names, None where nobody said, in the order of restarts.
        static: Which members have an instance id; none without it.

    Raises:
        InputError: The target assigns at the broker, or tasks of Kafka Streams.
    """
    new = wire_name(target)
    if new in SERVER_SIDE or new == STREAMS_PROTOCOL:
        raise InputError(
            f"members of a classic group cannot list {target!r}.",
            fix=f"Name a client-side strategy: {', '.join(one.strategy for one in CLIENT_SIDE.values())}.",
        )
    before, assumed = _before(lists, present)
    restarts = _restarts(new, present, before)
    steps, held = list[Step](), before
    for lists_after, why, needed in restarts:
        steps.append(_step(lists_after, held, static, why, needed))
        held = [lists_after] * len(before)
    at_once = rolling(before, (new,), static) if len(steps) > 1 else ()
    settings = [each.lists for each in steps]
    asides = _asides(new, present, settings, assumed=assumed is not None)
    return RestartPlan(
        target=new,
        present=present,
        members=len(before),
        steps=tuple(steps),
        how=_how(restarts, new, present, len(before), assumed),
        in_one_step=_in_one_step(new, present, at_once),
        notes=(*asides, *_notes(settings, before, static or ())) if steps else (),
        assumed=assumed,
    )


def by_one_restart(measure: str, static: Sequence[bool], names: Sequence[str] = ()) -> Fact:
    """
    Something that takes one rebalance, which the restart of one member brings, as a fact.

    Args:
        measure: What it is.
        static: Which members have an instance id: one that is back within its session brings no rebalance (KIP-345).
        names: What it is about.
    """
    if not any(static):
        return step(measure, names)
    return step(measure, names, after=sum(static), bound=len(static))


def in_short(target: str, present: str, lists: Sequence[Names | None]) -> tuple[Fact, ...]:
    """The way of a classic group in short: `RestartPlan.how`, without holding an election for it."""
    return _in_short(target, present, tuple(lists))


@lru_cache(maxsize=1 << 12)
def _in_short(target: str, present: str, lists: tuple[Names | None, ...]) -> tuple[Fact, ...]:
    """Kept, because most groups of a fleet are alike in this."""
    before, assumed = _before(lists, present)
    new = wire_name(target)
    return _how(_restarts(new, present, before), new, present, len(before), assumed)


def _how(
    restarts: Sequence[_Restart], new: str, present: str, members: int, assumed: Fact | None
) -> tuple[Fact, ...]:
    lists = [restart[0] for restart in restarts]
    two = len(restarts) > 1 and (assumed is not None or restarts[1][2])
    asides = _asides(new, present, lists, assumed=assumed is not None)
    return (*_short(lists, members, two=two), *asides)


def _before(lists: Sequence[Names | None], present: str) -> tuple[list[Names], Fact | None]:
    """What members list before the first restart, and what of it is assumed."""
    assumed = _assumed(lists, present)
    if assumed is None:
        return [listed for listed in lists if listed is not None], None
    return [(present,)] * len(lists), assumed


def _assumed(lists: Sequence[Names | None], present: str) -> Fact | None:
    """What has to be taken for granted; None when the lists are known and elect what the group runs."""
    known = [listed for listed in lists if listed is not None]
    elected = poll(Counter(known)).elected
    if len(known) < len(lists):
        unknown = len(lists) - len(known)
        return note("some_lists_unknown", [present], after=unknown, bound=len(lists))
    if elected == present:
        return None
    return note("said_lists_elect_other", [present, *([elected] if elected else [])])


_DROPS = {True: "drop_to_keep_owned", False: "drop_only", None: "drop_unknown"}


def _restarts(new: str, present: str, before: Sequence[Names]) -> list[_Restart]:
    """What is listed after each restart, why, and whether it is needed."""
    keeps, shared = cooperative([new]), common(set(before))
    if new not in shared:
        both = (new, present)
        drops = reason(_DROPS[keeps], both)
        return [
            (both, reason("let_in_meanwhile", both), True),
            ((new,), drops, keeps is not False),
        ]
    if keeps and not all(cooperative(listed) for listed in set(before)):
        return [((new,), reason("alone_to_keep_owned", [new]), True)]
    if new == present:
        return []
    rest = (name for name in before[0] if name in shared and name != new)
    return [((new, *rest), reason("first_gets_votes", [new]), True)]


def _step(
    lists: Names, before: Sequence[Names], static: Sequence[bool] | None, why: Fact, needed: bool
) -> Step:
    keeps = cooperative(lists)
    return Step(
        setting=setting(lists),
        lists=lists,
        why=why,
        stages=rolling(before, lists, static),
        eager=None if keeps is None else not keeps,
        needed=needed,
    )


def _short(lists: Sequence[Names], members: int, *, two: bool) -> list[Fact]:
    """
    The plan in short.

    Args:
        lists: What members list after each step, by wire names; the last one is led by the target.
        members: How many there are.
        two: Whether both steps shall be taken.
    """
    if not lists:
        return [ALREADY_RUNNING]
    new = lists[-1][0]
    known = CLIENT_SIDE.get(new)
    steps = [] if known and known.stock else [step("ship_class", [new])]
    if len(lists) == 1 and len(lists[0]) == 1:
        return [*steps, step("list_alone", [new])]
    if len(lists) == 1:
        enough = members // 2 + 1 if members > 2 else None
        return [*steps, step("put_first", [new], after=enough, bound=members)]
    return [*steps, step("two_restarts" if two else "one_restart", lists[0])]


def _asides(new: str, present: str, lists: Sequence[Names], *, assumed: bool) -> list[Fact]:
    """What may spare a step, and what librdkafka and kafka-python cannot do of the plan."""
    known = CLIENT_SIDE.get(new)
    steps = []
    if assumed and (new, present) == ("cooperative-sticky", "range"):
        steps.append(step("enough_if_listed", [new]))
    if known and not known.stock and known.python is None:
        steps.append(step("java_clients_only"))
    elif known and not known.librdkafka:
        steps.append(step("not_in_librdkafka", [new]))
    if any(map(mixed, lists)):
        steps.append(step("refused_by_other_clients", [new, present]))
    return steps


def _in_one_step(new: str, present: str, stages: Sequence[RestartStage]) -> tuple[Fact, ...]:
    """
    What the election says of listing the new one alone at once.

    Args:
        stages: Of that one restart; nothing when it is not to be asked.
    """
    refused, members = (stages[-1].refused, stages[-1].last) if stages else (0, 0)
    if not refused:
        return ()
    told = [note("refused_at_once", [new], after=refused, bound=members)]
    if {cooperative([new]), cooperative([present])} == {True, False}:
        told.append(note("better_refused"))
    return tuple(told)


def _notes(lists: Sequence[Names], before: Sequence[Names], static: Sequence[bool]) -> list[Fact]:
    """What else has to be known before the first restart."""
    used = {name for one in lists for name in one}
    facts = []
    everywhere = all((known := CLIENT_SIDE.get(name)) and known.librdkafka for name in used)
    if everywhere and not any(map(mixed, lists)):
        facts.append(note("wire_names", [",".join(one) for one in lists]))
    for name in sorted(used):
        known = CLIENT_SIDE.get(name)
        if known and not known.stock:
            facts.append(note("not_part_of_kafka", [name]))
        elif known is None and "." not in name:
            facts.append(note("class_unknown", [name]))
    if len(lists) > 1:
        facts.append(note("stop_and_start", [lists[-1][0]]))
    if any(static):
        facts.append(note("static_members", after=sum(static), bound=len(static)))
    if len(set(before)) > 1:
        facts.append(note("lists_differ"))
    return facts


def plan_server(target: str, present: str | None, members: int, classic: int = 0) -> RestartPlan:
    """
    The way of a KIP-848 group: its broker assigns, members only say by what.

    Args:
        target: Our name of the strategy, `uniform`, `range-server` or `racks-server`.
        present: What the broker uses now, by its wire name.
        members: How many members the group has.
        classic: How many of them still use the classic protocol (a group in migration).

    Raises:
        InputError: The strategy is not a server-side one.
    """
    name = SERVER_SIDE.get(target)
    if name is None:
        known = ", ".join(SERVER_SIDE)
        raise InputError(
            f"the broker of a KIP-848 group does not assign by {target!r}.",
            fix=f"Name a server-side strategy: {known}.",
        )
    server_setting = f"{SERVER_SETTING}={name}"
    notes = [note("asked_for_unknown"), note("broker_must_list", [name])]
    if classic:
        notes.append(note("classic_have_no_say", after=classic, bound=members))
    why = reason("broker_assigns_by", [present] if present else [])
    there = name == present
    return RestartPlan(
        target=name,
        present=present,
        members=members,
        steps=() if there else (Step(setting=server_setting, lists=(name,), why=why),),
        how=(ALREADY_RUNNING if there else step("ask_broker", [name]),),
        notes=() if there else tuple(notes),
    )
