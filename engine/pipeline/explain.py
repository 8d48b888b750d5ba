"""Explains why a strategy assigns a partition to a member, by the steps of the strategy."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..advice import blocked
from ..assignors import by_name
from ..assignors.kit.settle import settle
from ..assignors.kit.why import Steps, partition_of
from ..assignors.live import Live
from ..config import Settings
from ..messages.wording import look_again, words
from ..model.arrays import NONE
from ..model.errors import Infeasible, InputError, no_strategy
from ..model.facts import MOST_SUBJECTS, Fact, reason
from ..model.groups import GroupSnapshot
from ..model.text import listed
from ..snapshots.groups_with_past import BatchWithPast, GroupWithPast
from ..streams.compare import outcome
from ..streams.live import Running, running
from ..streams.place import place
from ..streams.settings import RackStrategy, StickyTasks, TaskStrategy
from .replay import asked
from .stored_metrics import measured_at_once


@dataclass(frozen=True, kw_only=True)
class Explained:
    """
    The explanation of an assigned partition.

    Attributes:
        topic, partition: The partition.
        strategy: The strategy.
        owner: The next owner: a member, or a process of a Kafka Streams application; None without one.
        owner_now: The current owner; None without one.
        steps: The steps, in order.
        rounds: Number of rebalances until then.
        application: The Kafka Streams application of the group; None for consumers.
    """

    topic: str
    partition: int
    strategy: str
    owner: str | None
    owner_now: str | None
    steps: Steps
    rounds: int = 1
    application: Running | None = None


def explain_group(
    settings: Settings, selection: GroupWithPast, strategy: str, topic: str, number: int
) -> Explained:
    """
    Explain why a strategy assigns a partition to a member.

    Args:
        settings: The configuration.
        selection: The group and its past.
        strategy: Name of the strategy; `live` is the current assignment.
        topic, number: The partition.

    Raises:
        InputError: The strategy is unknown, or the group doesn't read the partition.
        Infeasible: The strategy has no result for the group.
    """
    group = selection.group
    why = selection.withheld or blocked(group)
    if why is not None:
        told = words(why) if isinstance(why, Fact) else why
        raise Infeasible(
            f"no assignment of group {group.group} can be explained: {told}.", fix=look_again(group)
        )
    if group.places_tasks:
        return _task(settings, group, strategy, topic, number)
    assignor = by_name(strategy)
    past = BatchWithPast.of(group, selection.earlier, selection.withheld)
    _, (measured,) = measured_at_once(settings, past, every=False)
    if measured.measured is None:
        raise Infeasible(f"group {group.group} could not be measured.", fix=look_again(group))
    assign, spec = asked(settings, group, measured.measured, assignor)
    partition = partition_of(spec, topic, number)
    if partition is None:
        raise _no_such(group, topic, number, set(spec.topics))
    settled = settle(assign, spec)
    owner, now = int(settled.assignment.owner[partition]), int(spec.owner[partition])
    explain = getattr(assignor, "explain", None)
    unexplained = (reason("why_unexplained", [spec.members[owner]]),) if owner != NONE else ()
    return Explained(
        topic=topic,
        partition=number,
        strategy=strategy,
        owner=None if owner == NONE else spec.members[owner],
        owner_now=None if now == NONE else spec.members[now],
        steps=explain(spec, partition) if explain else unexplained,
        rounds=settled.rounds,
    )


def _no_such(group: GroupSnapshot, topic: str, number: int, topics: set[str]) -> InputError:
    return InputError(
        f"group {group.group} doesn't read partition {topic}-{number}.",
        fix=f"Choose a partition of one of its topics: {listed(sorted(topics), MOST_SUBJECTS)}.",
    )


def _task(
    settings: Settings, group: GroupSnapshot, strategy: str, topic: str, number: int
) -> Explained:
    """The task that reads a partition, and the steps that lead to its client."""
    live = running(group, settings.rule(group.cluster, group.group).streams)
    known = {each.value: each for each in live.strategies}
    if strategy not in (*known, Live.name):
        where = f"group {group.group} assigns tasks: "
        raise no_strategy(strategy, (Live.name, *known), at=where)
    task = live.task_of.get((topic, number))
    if task is None:
        raise _no_such(group, topic, number, {one for one, _ in live.task_of})
    now = int(live.owner[task])
    if strategy == Live.name:
        owner = now
        steps: Steps = () if now == NONE else (_about(live, "why_has_it", now),)
    else:
        owner, steps = _task_steps(live, known[strategy], task)
    clients = [*live.app.clients, None]
    return Explained(
        topic=topic,
        partition=number,
        strategy=strategy,
        owner=clients[owner],
        owner_now=clients[now],
        steps=(reason("why_task", [live.app.tasks[task]]), *steps),
        application=live,
    )


def _about(live: Running, measure: str, *clients: int, **known: float) -> Fact:
    """A step about clients, those that are none left out."""
    return reason(measure, [live.app.clients[c] for c in clients if c != NONE], **known)


def _task_steps(live: Running, strategy: TaskStrategy, task: int) -> tuple[int, Steps]:
    """The client that a strategy has a task end with, and why."""
    if isinstance(strategy, StickyTasks):
        owners, now = outcome(live, strategy).owner, int(live.owner[task])
        owner = int(owners[task])
        counts = {"before": int((live.owner == owner).sum()), "after": int((owners == owner).sum())}
        measure = "why_task_kept" if owner == now else "why_task_given"
        return owner, (_about(live, measure, owner, **counts),)
    placed = place(live.app, replace(live.config, strategy=strategy))
    runs = int(placed.active[task])
    owner = int(placed.target[task]) if live.app.stateful[task] else runs
    # a task without store is not dealt with those that have one
    dealt = int(placed.initial[task]) if live.app.stateful[task] else owner
    steps = [_about(live, "why_task_dealt", dealt)]
    if placed.racks is not None and strategy is not RackStrategy.NONE:
        steps += [reason("why_task_racks_off"), placed.racks]
    elif owner != dealt:
        steps.append(_about(live, "why_task_racks", owner, dealt))
    if runs != owner:
        steps.append(_about(live, "why_task_meanwhile", runs, owner))
    return owner, tuple(steps)
