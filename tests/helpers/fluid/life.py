"""What happens to one group: members come and go, rebalances stop them, somebody resets its offsets."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial, singledispatchmethod
from itertools import count
from uuid import NAMESPACE_URL, uuid5

import numpy as np

from evenkeel.engine.assignors import by_name
from evenkeel.engine.assignors.interface.build import build_spec
from evenkeel.engine.followers.plan import NAME as PLAN
from evenkeel.engine.model.arrays import NONE, Ints
from tests.helpers.fluid import plan
from tests.helpers.fluid.plan import SESSION, STEP, WARM, Group, Owners, racks_of
from tests.helpers.fluid.world import NEVER, World

COOPERATIVE = "cooperative-sticky"

_SERVER_SIDE = {"range": "range-server"}
"""What brokers' assignors are called here, where that differs from the wire."""


@dataclass(frozen=True, kw_only=True)
class View:
    """
    What a coordinator says of a group.

    Attributes:
        members: (member, its present id) in the broker's order.
        owner: (partitions of the group) member, NONE for nobody.
        described: Whether members' subscriptions and assignments are told; not those of classic groups in a rebalance.
        generation: Of the assignment, or its epoch.
        follows: By which strategy the plan was made that it follows; None without one.
    """

    state: str
    assignor: str | None
    members: tuple[tuple[int, str], ...]
    owner: Owners
    described: bool
    generation: int
    follows: str | None = None


def step_of(moment: float) -> int:
    """The step that begins at a moment."""
    return round((moment + WARM) / STEP)


@dataclass(kw_only=True, eq=False)
class Life:
    """
    One group in a world.

    Attributes:
        rows, base: Where its partitions and members lie in the world.
        end: (S + 1, P of the group) its log ends.
        born: (P of the group) step from which on each partition exists.
    """

    group: Group
    world: World
    rows: slice
    base: int
    end: np.ndarray
    born: Ints
    _agenda: list[tuple[int, int, Callable[[int], None]]] = field(default_factory=list)
    _turn: count[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        group = self.group
        self.present = [m for m, member in enumerate(group.members) if member.here]
        self.lives = [0] * len(group.members)
        self.factor = [1.0] * len(group.members)
        self.strategy: str | Owners = group.strategy
        self.elected, self.settles, self.held_until = group.strategy, NONE, 0
        self.generation = 1
        self.follows: str | None = None
        self.unread_ends = self.unread_commits = self.vanished_at = -1
        self._owner = np.arange(self.rows.start, self.rows.stop) * 0 + NONE
        self._set(np.array(group.deal) if group.deal else self.answer(0))
        for event in group.events:
            self.schedule(step_of(event.at), partial(self.happen, event))
        for topic in group.topics:
            if topic.born is not None:
                self.schedule(step_of(topic.born_at), self.rebalance)
        self._view: View | None = None

    def schedule(self, step: int, what: Callable[[int], None]) -> None:
        """Put something on the agenda; of two things at one moment the one planned first comes first."""
        heapq.heappush(self._agenda, (step, next(self._turn), what))

    @property
    def next_step(self) -> int:
        """When something happens next."""
        return self._agenda[0][0] if self._agenda else NEVER

    def catch_up(self, step: int) -> None:
        """Let happen what is due."""
        while self.next_step <= step:
            self._view = None
            heapq.heappop(self._agenda)[2](step)

    @singledispatchmethod
    def happen(self, event: plan.Event, step: int) -> None:
        """Something happens to the group."""
        raise NotImplementedError(event)

    @happen.register
    def _(self, event: plan.Leave, step: int) -> None:
        for member in event.members:
            self._stop(member, event.clean)
        gone = partial(self._gone, event.members)
        self.schedule(step if event.clean else step + SESSION // STEP, gone)

    @happen.register
    def _(self, event: plan.Join, step: int) -> None:
        for member in event.members:
            self._start(member)
            self.present = sorted({*self.present, member})
        self.rebalance(step)

    @happen.register
    def _(self, event: plan.Restart, step: int) -> None:
        member, back = event.member, step + round(event.down / STEP)
        if not self.group.members[member].static:
            self.happen(plan.Leave(at=event.at, members=(member,), clean=event.clean), step)
            again = plan.Join(at=event.at + event.down, members=(member,))
            self.schedule(
                max(back, step + (0 if event.clean else SESSION // STEP) + 1),
                partial(self.happen, again),
            )
            return
        self._stop(member, event.clean)
        self.schedule(back, lambda step: self._start(member))

    @happen.register
    def _(self, event: plan.Capacity, step: int) -> None:
        for member in event.members:
            self.factor[member] = event.factor or 1.0
            own = self.group.members[member].capacity
            if member in self.present:
                self.world.capacity[self.base + member] = own * event.factor

    @happen.register
    def _(self, event: plan.Stick, step: int) -> None:
        row = self.rows.start + self.group.partitions.index(event.partition)
        self.world.blocked[row] = NEVER if event.until == float("inf") else step_of(event.until)

    @happen.register
    def _(self, event: plan.Hang, step: int) -> None:
        place = self.group.partitions.index(event.partition)
        self.world.stable[self.rows.start + place] = self.end[step, place]
        if event.until < float("inf"):
            self.schedule(step_of(event.until), partial(self._decided, place))

    @happen.register
    def _(self, event: plan.Reset, step: int) -> None:
        names = self.group.partitions
        which = np.array([names.index(p) for p in event.partitions or names])
        then = step if event.back is None else max(step - round(event.back / STEP), 0)
        rows = self.rows.start + which
        self.world.go(rows, self.end[then, which])
        self.world.commit(rows)

    @happen.register
    def _(self, event: plan.Rebalancing, step: int) -> None:
        self.held_until = step_of(event.until)
        self.rebalance(step)

    @happen.register
    def _(self, event: plan.Unread, step: int) -> None:
        if event.commits:
            self.unread_commits = step_of(event.until)
        else:
            self.unread_ends = step_of(event.until)

    @happen.register
    def _(self, event: plan.Vanish, step: int) -> None:
        self.vanished_at = step
        self.present = []
        self._set(np.full(len(self._owner), NONE))

    @happen.register
    def _(self, event: plan.Switch, step: int) -> None:
        moment = event.at
        for number in range(event.bounces):
            for member in list(self.present):
                if number == event.bounces - 1 and member == self.present[-1]:
                    # the last one that still lists the old strategy only leaves and comes back with the new one
                    self.schedule(step_of(moment), partial(self._take_up, event.to))
                again = plan.Restart(at=moment, member=member, down=event.down)
                self.schedule(step_of(moment), partial(self.happen, again))
                moment += event.gap

    @happen.register
    def _(self, event: plan.Swap, step: int) -> None:
        self._take_up(event.to, step)
        self._set(self.answer(step))

    @happen.register
    def _(self, event: plan.Follow, step: int) -> None:
        self.strategy, self.follows = event.owners, event.by
        self.happen(plan.Restart(at=event.at, member=self.present[0], down=event.down), step)

    def _take_up(self, to: str | Owners, step: int) -> None:
        self.strategy = to
        self.elected = to if isinstance(to, str) else self.elected

    def _decided(self, place: int, step: int) -> None:
        self.world.stable[self.rows.start + place] = np.inf

    def _stop(self, member: int, clean: bool) -> None:
        held = np.flatnonzero(self._owner == member) + self.rows.start
        if clean:
            self.world.commit(held)
        else:
            self.world.go(held, self.world.committed[held])
        self.world.capacity[self.base + member] = 0

    def _start(self, member: int) -> None:
        self.lives[member] += 1
        own = self.group.members[member].capacity
        self.world.capacity[self.base + member] = own * self.factor[member]
        self._view = None

    def _gone(self, members: tuple[int, ...], step: int) -> None:
        self.present = [m for m in self.present if m not in members]
        self._set(np.where(np.isin(self._owner, members), NONE, self._owner))
        self.rebalance(step)

    def rebalance(self, step: int) -> None:
        """A rebalance begins; one that is under way begins again."""
        self.settles = max(step + max(round(self.group.pause / STEP), 1), self.held_until)
        held = np.flatnonzero(self._owner != NONE) + self.rows.start
        if not self.gently:
            self.world.commit(held)
            self.world.ready[self.rows] = NEVER
        self.schedule(self.settles, self._settle)

    @property
    def gently(self) -> bool:
        """Whether members go on with what they keep while the group rebalances."""
        return self.group.modern or self.elected in (COOPERATIVE, PLAN)

    def _settle(self, step: int) -> None:
        if step != self.settles or self.vanished_at >= 0:
            return  # it began again meanwhile
        self.settles = NONE
        before, after = self._owner, self.answer(step)
        moved = np.flatnonzero((before != after) & (before != NONE)) + self.rows.start
        self.world.commit(moved)
        self._set(after)
        self.generation += 1
        self.world.ready[self.rows] = step
        if self.gently:  # what moves is given up in this round and given out in the next
            self.world.ready[moved] = step + max(round(self.group.pause / STEP), 1)

    def answer(self, step: int) -> Ints:
        """(P of the group) whom the strategy gives what; a plan that names someone absent falls to round robin."""
        if not self.present:
            return np.full(len(self.born), NONE)
        if not isinstance(self.strategy, str):
            owners = np.array(self.strategy)
            if set(owners.tolist()) <= {*self.present, NONE}:
                return np.where(self.born <= step, owners, NONE)
        name = self.strategy if isinstance(self.strategy, str) else "roundrobin"
        return self._asked(COOPERATIVE if self.elected == PLAN else name, step)

    def _asked(self, name: str, step: int) -> Ints:
        group, owner = self.group, self._owner
        names, alive = group.partitions, self.born <= step
        place = {member: n for n, member in enumerate(self.present)}
        listed = [t.name for t in group.topics]
        sizes = [
            sum(1 for p, a in zip(names, alive, strict=True) if p[0] == t and a) for t in listed
        ]
        owned = [[names[p] for p in np.flatnonzero(owner == m).tolist()] for m in self.present]
        replicas = [racks_of(group, p) for p, a in zip(names, alive, strict=True) if a]
        spec = build_spec(
            members=[self.member_id(m) for m in self.present],
            instance_ids=[
                group.client(m) if group.members[m].static else None for m in self.present
            ],
            member_racks=[group.members[m].rack for m in self.present],
            subscriptions=[list(group.members[m].topics or listed) for m in self.present],
            topics=listed,
            partition_counts=sizes,
            replica_racks=replicas,
            owner=[place.get(m, NONE) for m in owner[alive].tolist()],
            owned=owned,
            generation=[1 if any(owned) else None for _ in self.present],
            user_data=[{"owned": pairs, "generation": 1} for pairs in owned]
            if name == "sticky"
            else None,
        )
        answer = by_name(_SERVER_SIDE.get(name, name) if group.modern else name).assign(spec)
        # a cooperative member gives up first what the next round gives away: here that is one step
        owners = (
            answer.owner
            if answer.transferring is None
            else np.where(answer.owner == NONE, answer.transferring, answer.owner)
        )
        given = np.full(len(names), NONE)
        given[alive] = np.append(self.present, NONE)[owners]
        return given

    def _set(self, owner: Ints) -> None:
        self._owner = owner
        self.world.owner[self.rows] = np.where(owner == NONE, NONE, owner + self.base)

    def member_id(self, member: int) -> str:
        """A member's id, another one after each restart."""
        client = self.group.client(member)
        return f"{client}-{uuid5(NAMESPACE_URL, f'{client}/{self.lives[member]}')}"

    def view(self) -> View | None:
        """What the coordinator says of it now; None when it is gone."""
        if self.vanished_at >= 0:
            return None
        if self._view is None:
            moving = self.settles != NONE and bool(self.present)
            modern = self.group.modern
            in_motion = "Reconciling" if modern else "PreparingRebalance"
            state = in_motion if moving else "Stable" if self.present else "Empty"
            self._view = View(
                state=state,
                assignor=self.elected if modern or state == "Stable" else None,
                members=tuple((m, self.member_id(m)) for m in self.present),
                owner=tuple(self._owner.tolist()),
                described=modern or not moving,
                generation=self.generation,
                follows=self.follows,
            )
        return self._view
