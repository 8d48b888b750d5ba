"""
How a group gets from one strategy to another: rolling restarts, and what it elects on the way.

A member is let in only if its list shares a strategy with everybody's, so the one in force stays
listed until all list the new one (two rolling restarts, KIP-429). What each restart brings is not taken
from a table: the election is held after every restarted member (`rolling`).

* All list the new one: one restart. An eager one goes first; a cooperative one stands alone, since a
  Java member that lists an eager one beside it gives everything up at a rebalance like an eager one.
* They do not, and it is eager: one restart with `new,old`; a second one drops the old, if wanted.
* They do not, and it is cooperative: two, with `new,old`, then with `new` alone.

>>> way = plan("cooperative-sticky", "range", [("range",)] * 3)
>>> [step.lists for step in way.steps]
[('cooperative-sticky', 'range'), ('cooperative-sticky',)]
>>> [(stage.first, stage.last, stage.elected) for stage in way.steps[0].stages]
[(1, 2, 'range'), (3, 3, 'cooperative-sticky')]

In one step everybody but the last is refused; that one finds the group empty:

>>> for stage in rolling([("range",)] * 3, ("cooperative-sticky",)):
...     print(stage.first, stage.last, stage.elected, stage.members, stage.refused)
1 2 range 1 2
3 3 cooperative-sticky 1 2

Source: KIP-429; `ClassicGroup`, `ConsumerGroup`, `ConsumerCoordinator` and
`GroupMetadataManager.classicGroupJoin` of Kafka 4.3. Which lists other clients refuse was tried with
librdkafka 2.16 and read in kafka-python 3.0.

What it does not do: plan a move to another group protocol (`group.protocol`), or know which client
library a member uses; the notes say what differs between them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from ..model.releases import REASSIGNS_AT_REQUEST, USUAL, release_of
from ..model.states import STREAMS_PROTOCOL

Names = tuple[str, ...]
_Restart = tuple[Names, Fact, bool]
"""What is listed after a restart, why, and whether it is needed."""

ALREADY_RUNNING = step("already_running")

_DROPS = {True: "drop_to_keep_owned", False: "drop_only", None: "drop_unknown"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartStage:
    """
    What holds while a rolling restart is at some point.

    Attributes:
        first, last: From how many to how many members have been restarted.
        elected: What those in the group elect, by its wire name; None when none is left.
        members: How many are in the group at *last*.
        refused: How many of the restarted ones are kept out at *last*.
    """

    first: int
    last: int
    elected: str | None
    members: int
    refused: int


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
    for listed, why, needed in restarts:
        keeps = cooperative(listed)
        steps.append(
            Step(
                setting=setting(listed),
                lists=listed,
                why=why,
                stages=rolling(held, listed, static),
                eager=None if keeps is None else not keeps,
                needed=needed,
            )
        )
        held = [listed] * len(before)
    at_once = rolling(before, (new,), static) if len(steps) > 1 else ()
    wrong = list[Fact]()
    if at_once and (refused := at_once[-1].refused):
        wrong.append(note("refused_at_once", [new], after=refused, bound=at_once[-1].last))
        if {cooperative([new]), cooperative([present])} == {True, False}:
            wrong.append(note("better_refused"))
    return RestartPlan(
        target=new,
        present=present,
        members=len(before),
        steps=tuple(steps),
        how=_how(restarts, new, present, len(before), assumed),
        in_one_step=tuple(wrong),
        notes=_notes(restarts, new, present, before, static or (), assumed) if steps else (),
        assumed=assumed,
    )


def plan_server(
    target: str,
    present: str | None,
    members: int,
    classic: int = 0,
    static: Sequence[bool] = (),
    brokers: str | None = None,
) -> RestartPlan:
    """
    The way of a KIP-848 group: its broker assigns, members only say by what.

    Args:
        target: Our name of the strategy, `uniform`, `range-server` or `racks-server`.
        present: What the broker uses now, by its wire name.
        members: How many members the group has.
        classic: How many of them still use the classic protocol (a group in migration).
        static: Which members have an instance id; none without it.
        brokers: The release of the brokers; None unknown.

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
    there = RestartPlan(
        target=name, present=present, members=members, steps=(), how=(ALREADY_RUNNING,)
    )
    if name == present:
        return there
    why = reason("broker_assigns_by", [present] if present else [])
    notes = [note("asked_for_unknown"), note("broker_must_list", [name])]
    if classic:
        notes.append(note("classic_have_no_say", after=classic, bound=members))
    how = [step("ask_broker", [name])]
    if not_reassigned(static, brokers):
        how.append(by_one_restart("ask_anew", static))
        notes.append(note("static_not_reassigned"))
    return replace(
        there,
        steps=(Step(setting=f"{SERVER_SETTING}={name}", lists=(name,), why=why),),
        how=tuple(how),
        notes=tuple(notes),
    )


def not_reassigned(static: Sequence[bool], brokers: str | None) -> bool:
    """
    Whether brokers may leave a KIP-848 group its assignment when static members return and request another assignor.

    Up to Kafka 4.3 they do (KAFKA-20434): the epoch of the group stays, so nothing is computed, though the group is
    described with the new assignor. Unless they are known to be newer they are taken for such.

    >>> not_reassigned([True, False], "4.3"), not_reassigned([True], "4.4"), not_reassigned([False], None)
    (True, False, False)
    """
    return any(static) and (release_of(brokers) or USUAL) < REASSIGNS_AT_REQUEST


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


@lru_cache(maxsize=1 << 12)
def in_short(target: str, present: str, lists: tuple[Names | None, ...]) -> tuple[Fact, ...]:
    """
    The way of a classic group in short: `RestartPlan.how`, without holding an election for it.

    Kept, because most groups of a fleet are alike in this.
    """
    before, assumed = _before(lists, present)
    new = wire_name(target)
    return _how(_restarts(new, present, before), new, present, len(before), assumed)


def _before(lists: Sequence[Names | None], present: str) -> tuple[list[Names], Fact | None]:
    """
    What members list before the first restart, and what of it is taken for granted; nothing is where the lists are
    known and elect what the group runs.
    """
    known = [listed for listed in lists if listed is not None]
    elected = poll(Counter(known)).elected
    if len(known) < len(lists):
        unknown = len(lists) - len(known)
        assumed = note("some_lists_unknown", [present], after=unknown, bound=len(lists))
    elif elected == present:
        return known, None
    else:
        assumed = note("said_lists_elect_other", [present, *([elected] if elected else [])])
    return [(present,)] * len(lists), assumed


def _restarts(new: str, present: str, before: Sequence[Names]) -> list[_Restart]:
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


def _how(
    restarts: Sequence[_Restart], new: str, present: str, members: int, assumed: Fact | None
) -> tuple[Fact, ...]:
    """The plan in short: two restarts only if the second is needed, as `evenkeel runbook` prints them."""
    asides = _asides(restarts, new, present, assumed)
    if not restarts:
        return (ALREADY_RUNNING, *asides)
    first, known = restarts[0][0], CLIENT_SIDE.get(new)
    ship = () if known and known.stock else (step("ship_class", [new]),)
    if len(restarts) > 1:
        way = step("two_restarts" if restarts[1][2] else "one_restart", first)
    elif len(first) > 1:
        way = step(
            "put_first", [new], after=members // 2 + 1 if members > 2 else None, bound=members
        )
    else:
        way = step("list_alone", [new])
    return (*ship, way, *asides)


def _asides(
    restarts: Sequence[_Restart], new: str, present: str, assumed: Fact | None
) -> list[Fact]:
    """What may spare a step, and what librdkafka and kafka-python cannot do of the plan."""
    known = CLIENT_SIDE.get(new)
    steps = []
    if assumed and (new, present) == ("cooperative-sticky", "range"):
        steps.append(step("enough_if_listed", [new]))
    if known and not known.stock and known.python is None:
        steps.append(step("java_clients_only"))
    elif known and not known.librdkafka:
        steps.append(step("not_in_librdkafka", [new]))
    if any(mixed(listed) for listed, *_ in restarts):
        steps.append(step("refused_by_other_clients", [new, present]))
    return steps


def _notes(
    restarts: Sequence[_Restart],
    new: str,
    present: str,
    before: Sequence[Names],
    static: Sequence[bool],
    assumed: Fact | None,
) -> tuple[Fact, ...]:
    """What else has to be known before the first restart."""
    lists = [listed for listed, *_ in restarts]
    used = {name: CLIENT_SIDE.get(name) for name in sorted({name for one in lists for name in one})}
    facts = _asides(restarts, new, present, assumed)
    if all(known and known.librdkafka for known in used.values()) and not any(map(mixed, lists)):
        facts.append(note("wire_names", [",".join(one) for one in lists]))
    for name, known in used.items():
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
    return tuple(facts)


def rolling(
    before: Sequence[Names], after: Names, static: Sequence[bool] | None = None
) -> tuple[RestartStage, ...]:
    """
    Restart one member after another with a new list, and hold the election after each.

    A dynamic member leaves before it comes back; a static one does not, so its own old list still counts when it asks
    to be let in. Whoever is refused stays out, and the group goes on without it. Cost: members x different lists.

    Args:
        before: Each member's list by wire names, in the order of the restarts.
        after: The new list of all.
        static: Which members have an instance id; none without it.
    """
    group, refused, stages = Counter(before), 0, list[RestartStage]()
    for place, own in enumerate(before):
        without = group - Counter([own])
        others = group if static is not None and static[place] else without
        admitted = not others or not set(common(others)).isdisjoint(after)
        group = without + Counter([after] if admitted else [])
        refused += not admitted
        now = RestartStage(
            first=place + 1,
            last=place + 1,
            elected=poll(group).elected,
            members=group.total(),
            refused=refused,
        )
        if stages and stages[-1].elected == now.elected:
            stages[-1] = replace(now, first=stages[-1].first)
        else:
            stages.append(now)
    return tuple(stages)
