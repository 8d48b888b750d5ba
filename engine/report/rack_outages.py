"""
Simulates the loss of each rack for every group, as `whatif --without-rack`.

Each group of a snapshot rebalances with its current strategy. A group that cannot be simulated is omitted with a
reason.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import numpy as np

from ..config import Settings
from ..messages.wording import because, member_names, reasons, words
from ..model.errors import EvenkeelError, Infeasible
from ..model.groups import GroupSnapshot, PartitionTable
from ..model.logs import logger
from ..model.states import WORST_FIRST, Diagnosis
from ..pipeline.whatif import (
    SeenGroup,
    SupposedLoad,
    answer_of_tasks,
    arriving,
    by_instances,
    end_of_rack,
    members_in,
    outcome_running,
    racks_of,
    suppose,
    why_not,
)
from .values import GroupWithoutRack, LeftOut, RackRehearsal, Rehearsal

MOST_RACKS = 12
"""Maximum number of simulated racks, because members choose their rack names. Racks of brokers come first."""

RACKS_UNKNOWN = "no member has a known rack: set client.rack, or `racks` in a rule of evenkeel.toml"

_log = logger(__name__)


def rehearse(
    settings: Settings,
    seen: Sequence[SeenGroup],
    tell: Callable[[int, int], object] = lambda passed, every: None,
) -> Rehearsal:
    """
    Simulate the loss of each rack for all groups.

    Args:
        settings: The configuration.
        seen: The measured groups of a snapshot.
        tell: Called after each group with the number of finished groups and of all groups.
    """
    refused = [(one.group.group, _refusal(one)) for one in seen]
    able = [one for one, (_, why) in zip(seen, refused, strict=True) if why is None]
    racks = _racks([one.group for one in seen])
    shown = [_Rack(rack) for rack in racks[:MOST_RACKS]]
    for passed, one in enumerate(able, start=1):
        group = by_instances(one.group) if one.group.places_tasks else one.group
        for rack in shown:
            rack.ask(settings, one, group)
        tell(passed, len(able))
    return Rehearsal(
        racks=tuple(rack.rehearsal() for rack in shown),
        more_racks=len(racks) - len(shown),
        groups=len(seen),
        left_out=_left_out((name, why) for name, why in refused if why is not None),
    )


def _refusal(seen: SeenGroup) -> str | None:
    """The reason that a group cannot be simulated; None if it can."""
    if why := why_not(seen):
        return words(why)
    racked = any(member.rack for member in seen.group.members)
    return None if racked else RACKS_UNKNOWN


def _racks(groups: Sequence[GroupSnapshot]) -> list[str]:
    """Racks of brokers by name, then racks of members only, by number of members."""
    brokers = {rack for one in groups for rack in one.partitions.racks}
    every = {rack for one in groups for rack in racks_of(one)}
    members = Counter(member.rack for one in groups for member in one.members)
    return sorted(
        every, key=lambda rack: (rack not in brokers, rack not in brokers and -members[rack], rack)
    )


def _left_out(refused: Iterable[tuple[str, str]]) -> tuple[LeftOut, ...]:
    """Groups by reason, most frequent first."""
    names = defaultdict[str, list[str]](list)
    for name, why in refused:
        names[why].append(name)
    found = (LeftOut(reason=why, groups=tuple(each)) for why, each in names.items())
    return tuple(sorted(found, key=lambda one: (-len(one.groups), one.reason)))


class _Rack:
    """A rack, and the results of groups without it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.members = self.keep_up = self.unchanged = 0
        self.groups: list[GroupWithoutRack] = []
        self.ended: list[str] = []
        self.refused: list[tuple[str, str]] = []

    def ask(self, settings: Settings, seen: SeenGroup, group: GroupSnapshot) -> None:
        """Simulate it for a group; a group that assigns tasks has instances as members."""
        name, gone = group.group, len(members_in(group.members, [self.name]))
        self.members += gone
        if gone == len(group.members):
            self.ended.append(name)
        elif not gone and not _has_replicas(group, self.name):
            self.unchanged += 1
        else:
            try:
                asked = _of_tasks if group.places_tasks else _of_partitions
                self._add(asked(settings, seen, group, self.name))
            except EvenkeelError as problem:
                self.refused.append((name, problem.message.removesuffix(".")))
            except Exception as problem:  # noqa: BLE001
                _log.exception("group %s cannot be simulated without rack %s", name, self.name)
                self.refused.append((name, f"error: {type(problem).__name__}: {problem}"))

    def _add(self, found: GroupWithoutRack) -> None:
        if not found.in_trouble and found.then is not None:
            self.keep_up += 1
        elif found.is_changed:
            self.groups.append(found)
        else:
            self.unchanged += 1

    def rehearsal(self) -> RackRehearsal:
        """The results."""
        return RackRehearsal(
            rack=self.name,
            members=self.members,
            groups=tuple(sorted(self.groups, key=_worst_first)),
            keep_up=self.keep_up,
            unchanged=self.unchanged,
            ended=tuple(self.ended),
            left_out=_left_out(self.refused),
        )


def _has_replicas(group: GroupSnapshot, rack: str) -> bool:
    """Whether brokers of a rack have replicas of the partitions of a group."""
    return any(
        rack in table.racks and bool((table.replica_rack == table.racks.index(rack)).any())
        for table in _tables(group)
    )


def _tables(group: GroupSnapshot) -> Iterator[PartitionTable]:
    yield group.partitions
    if group.stores is not None:
        yield group.stores


def _worst_first(one: GroupWithoutRack) -> tuple[object, ...]:
    """Losses first, then new problems, existing problems, and unknown results."""
    return (
        not one.loses,
        not one.in_trouble,
        one.then is one.now,
        WORST_FIRST.index(one.then or Diagnosis.UNKNOWN),
        -one.offline,
        -(one.stores_lost or 0),
        -(one.busiest or 0),
        -(one.arrives or 0),
        one.group_id,
    )


def _of_partitions(
    settings: Settings, seen: SeenGroup, group: GroupSnapshot, rack: str
) -> GroupWithoutRack:
    """
    A group that assigns partitions.

    Raises:
        Infeasible: Its strategy has no result, or is unknown.
    """
    supposed = suppose(seen, end_of_rack(group, rack))
    outcome = outcome_running(settings, supposed)
    if outcome is None:
        raise Infeasible("its current strategy is unknown")
    candidate = outcome.candidate
    if candidate.assignment is None or candidate.score is None:
        raise Infeasible(reasons(candidate.reason))
    loads = supposed.loads(candidate.assignment.owner).values()
    forecast, left = candidate.forecast, supposed.layout.left
    then = outcome.diagnosed.diagnosis if outcome.diagnosed else Diagnosis.UNKNOWN
    return GroupWithoutRack(
        group_id=group.group,
        in_tasks=False,
        members=len(group.members),
        left=outcome.members,
        moves=candidate.score.moves,
        busiest=_busiest(loads),
        arrives=_most(one.per_second for one in loads),
        lag=None if forecast is None else forecast.forecast_lag_expected,
        now=seen.diagnosis,
        then=None if then is Diagnosis.UNKNOWN else then,
        reason=because(outcome.facts) or None,
        offline=int(np.count_nonzero(left.dead & left.table.assignable)),
    )


def _busiest(loads: Collection[SupposedLoad]) -> float | None:
    """The largest utilization of a member; None if it is unknown for a member with traffic."""
    return _most(one.utilization for one in loads if one.per_second != 0)


def _most(values: Iterable[float | None]) -> float | None:
    every = list(values)
    known = [value for value in every if value is not None]
    return max(known, default=0.0) if len(known) == len(every) else None


def _of_tasks(
    settings: Settings, seen: SeenGroup, group: GroupSnapshot, rack: str
) -> GroupWithoutRack:
    """
    An application of Kafka Streams. The capacity of its instances is unknown, so its diagnosis is known only if they
    keep their tasks.

    Raises:
        EvenkeelError: Its strategy has no result.
    """
    measured = seen.measured_group.measured
    answer = answer_of_tasks(
        seen.group,
        settings.rule(group.cluster, group.group).streams,
        end_of_rack(group, rack),
        {},
        member_names(group.members),
        {} if measured is None else arriving(group, measured.production),
    )
    outcome = next((one for one in answer.outcomes if one.is_running), None)
    if outcome is None or outcome.placed is None:
        why = outcome and outcome.refused
        raise Infeasible(words(why) if why else "its current strategy is unknown")
    lost = {fact.measure: len(fact.subjects) for fact in answer.lost}
    left, moves = len(outcome.application.app.clients), len(outcome.moves)
    restores = [outcome.to_restore(tasks) for tasks in outcome.restoring.values()]
    sizes = [size for _, size in restores]
    stays = left == len(group.members) and not moves
    return GroupWithoutRack(
        group_id=group.group,
        in_tasks=True,
        members=len(group.members),
        left=left,
        moves=moves,
        busiest=None,
        arrives=_most(rate for _, _, rate in outcome.loads(answer.rates).values()),
        lag=None,
        now=seen.diagnosis,
        then=seen.diagnosis if stays and seen.diagnosis is not Diagnosis.UNKNOWN else None,
        reason=None,
        offline=lost.get("partitions_dead", 0) + lost.get("changelogs_dead", 0),
        stores_lost=lost.get("stores_lost", 0),
        restore_offsets=sum(offsets for offsets, _ in restores),
        restore_bytes=None if None in sizes else sum(size or 0 for size in sizes),
    )
