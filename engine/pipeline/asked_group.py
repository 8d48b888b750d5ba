"""A measured group that strategies are asked about: what each sees, and what is said of all their answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..advice import SERVER_SIDE, Feasibilities, FeasibilityJudgment, runs
from ..advice.lost_racks import leaders_only, lost_rack_awareness, strays, unpriced
from ..advice.scoring import Judge
from ..advice.switch_cost import Price, gives_up_everything, price
from ..advice.uneven_subscriptions import uneven_by_subscription
from ..assignors import RACKED, is_ours, takes_user_data
from ..assignors.interface import Assignor, GroupSpec, part_of
from ..assignors.interface.rejoin import telling
from ..assignors.kafka.other_clients import as_led_by
from ..assignors.kafka.protocol_names import BY_RACKS, base_of
from ..config import Policy, Rule, Settings
from ..followers.plan import NAME as PLAN
from ..messages.wording import counts
from ..metrics.forecast import Load
from ..metrics.samples import sums_by_owner
from ..model.arrays import Flags, Floats, Indices
from ..model.assignments import ABLE, Assignment, Candidate, Deployment, Feasibility
from ..model.facts import Fact, FactKind, fact, note, reason
from ..model.groups import GroupSnapshot
from ..model.releases import untrue, written
from ..model.states import GroupType
from .candidate_forecasts import Unforecast
from .candidate_rows import infeasible
from .member_data import settings_of, with_user_data
from .stored_metrics import Measured, MeasuredBatch, MeasuredGroup, judge_of_measured

BY_CAPACITY = ("balanced", "drain")
"""Strategies that give members what they can do."""

OF_OURS = frozenset({Deployment.BASELINE, Deployment.PLAN})
"""Strategies that go by what crossing racks costs (`as_read`); the others see what members send."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Seen:
    """
    What a strategy sees of a group.

    Attributes:
        judgment: Whether the group could run it.
        continues: Whether its members report what they own.
        silent: Ids of those that do not.
        whole: The group, before it is said who reports what.
        said: What the library of its leader makes of the answer.
        sends: Whether members send user data of their own, whatever they own: then *whole* is already as it is told.
    """

    judgment: FeasibilityJudgment
    continues: bool
    silent: frozenset[str]
    whole: GroupSpec
    said: tuple[Fact, ...] = ()
    sends: bool = False

    @property
    def reports(self) -> Flags:
        """(M) which members report what they own."""
        members, silent = self.whole.members, self.silent
        if self.sends or not self.continues or not silent:
            return np.full(len(members), self.sends or self.continues)
        return np.array([member not in silent for member in members], np.bool_)

    @property
    def group(self) -> GroupSpec:
        """The group as the strategy is given it."""
        return telling(self.whole, self.reports)

    @property
    def remembers(self) -> bool:
        """Whether the strategy sees what members own now."""
        silent = self.judgment.reporting_nothing
        return self.continues and len(silent) < len(self.whole.members)


@dataclass(frozen=True, kw_only=True, eq=False)
class AskedGroup:
    """
    A measured group of consumers that is not blocked.

    Attributes:
        settings: The configuration.
        measured_group: The group and its metrics.
        live_only: Whether only the current assignment is scored.
        only: Names of the strategies; None for all.
        coming: Ids of members that join now, without owned partitions.
        named: A strategy that is included even if it is not by default.
        candidates: The candidates so far.
    """

    settings: Settings
    measured_group: MeasuredGroup
    live_only: bool = False
    only: Collection[str] | None = None
    coming: Collection[str] = frozenset()
    named: str | None = None
    candidates: list[Candidate] = field(default_factory=list)

    @cached_property
    def group(self) -> GroupSnapshot:
        """The group."""
        return self.measured_group.group

    @cached_property
    def measured(self) -> Measured:
        """Its metrics."""
        assert self.measured_group.measured is not None, "who asks has looked"
        return self.measured_group.measured

    @cached_property
    def rule(self) -> Rule:
        """What the configuration knows of it."""
        return self.settings.rule(self.group.cluster, self.group.group)

    @cached_property
    def pauses(self) -> Policy:
        """For how long its partitions stand still."""
        return self.measured.paused(self.settings.policy(self.group.cluster, self.group.group))

    @cached_property
    def _place(self) -> tuple[MeasuredBatch, int]:
        """Among which groups it is seen, and its number there."""
        return self.measured_group.place or (MeasuredBatch.of(self.group, self.measured), 0)

    @cached_property
    def spec(self) -> GroupSpec:
        """The group with lags as they are shown."""
        among, number = self._place
        return part_of(among.spec, number)

    @cached_property
    def judge(self) -> Judge:
        """Who scores its assignments."""
        return judge_of_measured(self.group, self.measured, self.spec, self.rule)

    @cached_property
    def feasibilities(self) -> Feasibilities:
        """Whether it could run a strategy."""
        return Feasibilities(self.group, self.rule.assignors, self.rule.client)

    @cached_property
    def _alone(self) -> dict[str, Any]:
        """What a strategy that is asked about this group alone knows besides."""
        return {
            "backlog": _backlog(self.spec, self.measured.load),
            # as the price has it of a plan
            "pauses": self.pauses.pauses(eager=gives_up_everything(self.group, PLAN, ())),
        }

    @cached_property
    def joining(self) -> GroupSpec:
        """The group as Kafka's strategies see it."""
        among, number = self._place
        return part_of(among.joining, number, **self._alone)

    @cached_property
    def config(self) -> tuple[Mapping[str, Any], ...]:
        """(M) what configuration says of each member, for strategies that are not ours."""
        return tuple(settings_of(self.rule, member) for member in self.group.members)

    @cached_property
    def configured(self) -> GroupSpec:
        """`joining`, as strategies that are not ours see it."""
        return replace(self.joining, config=self.config)

    @cached_property
    def reading(self) -> GroupSpec:
        """The same with the racks that count when it reads."""
        among, number = self._place
        if among.reading is among.joining:
            return self.joining
        return part_of(among.reading, number, **self._alone)

    def is_asked(self, strategy: Assignor) -> bool:
        """Whether a strategy has a row."""
        name, named = strategy.name, (*(self.only or ()), self.named)
        if self.live_only and strategy.deployment is not Deployment.LIVE:
            return False
        if self.only is not None and name not in self.only:
            return False
        if RACKED.get(name) is not strategy:
            return True
        # what it would be once members sent their racks, if they do not, or if it is named
        told = bool(self.feasibilities.untold) or name in named
        return told and (name in named or _too_far(strategy, self.group) is None)

    def too_far(self, strategy: Assignor) -> Fact | None:
        """Why a strategy is not asked unless it is named."""
        named = self.only is not None or strategy.name == self.named
        return None if named else _too_far(strategy, self.group)

    def seen_by(self, strategy: Assignor) -> Seen:
        """
        How a strategy is asked.

        Raises:
            Infeasible: It cannot run on this group.
        """
        group = self.group
        judgment = self.feasibilities.of(strategy.name, strategy.deployment)
        whole = self.reading if strategy.deployment in OF_OURS else self.joining
        continues = self._continues(strategy, judgment)
        silent = judgment.reporting_nothing.union(self.coming)
        led = group.type is GroupType.CLASSIC and judgment.deployment is None
        library = self.feasibilities.library if led else None
        whole, said = as_led_by(library, strategy.name, whole)
        if (true_to := untrue(strategy.name, group.kafka_release)) is not None:
            releases = [str(group.kafka_release), written(true_to.since), written(true_to.until)]
            said = (*said, reason("other_release", releases))
        seen = Seen(judgment=judgment, continues=continues, silent=silent, whole=whole, said=said)
        if is_ours(strategy):
            return seen
        seen = replace(seen, whole=replace(whole, config=self.config))
        if not takes_user_data(strategy):
            return seen
        told = with_user_data(strategy, group, self.rule, seen.group)
        return replace(seen, whole=told, sends=True)

    def _continues(self, strategy: Assignor, judgment: FeasibilityJudgment) -> bool:
        """
        Whether a strategy would see what members own now.

        The one that the group runs does, at its next rebalance. To get another client-side one, every
        member restarts and forgets; a broker keeps the target assignment whatever assignor comes next. Who makes a plan
        asks afresh.
        """
        if judgment.deployment is not None:
            return False
        if strategy.deployment is Deployment.LIVE or self.feasibilities.runs(strategy.name):
            return True
        kip_848 = self.group.type is GroupType.CONSUMER
        return kip_848 and base_of(strategy.name) in SERVER_SIDE

    def never(self, strategy: Assignor, why: Fact, how: tuple[Fact, ...] = ()) -> Candidate:
        """A strategy that has no answer for the group, why, and how members would get it nevertheless."""
        is_running = self.feasibilities.runs(strategy.name)
        return infeasible(strategy.name, strategy.deployment, why, how=how, is_running=is_running)

    def says_more(self, told: str, feasibility: Feasibility, assignment: Assignment | None) -> bool:
        """
        Whether a strategy `with_racks` is worth a row: it is named, can be had, and has another answer than without.

        That of what the group runs is always: by it one sees whether its members send their racks by now.
        """
        if self.only is not None or told == self.named:
            return True
        base = next(one for one in self.candidates if one.strategy == base_of(told))
        if assignment is None or feasibility is not Feasibility.NEEDS_RESTART:
            return False
        without = base.assignment
        return bool(base.is_running) or (
            without is not None and not np.array_equal(without.owner, assignment.owner)
        )

    def unforecast(self, *, priced: bool) -> Unforecast:
        """
        The candidates, of which forecasts can be made.

        Args:
            priced: Whether forecasts include what the switch costs.
        """
        group, spec = self.group, self.spec

        def price_of(candidate: Candidate, owner: Indices) -> Price | None:
            could = candidate.feasibility in ABLE
            if candidate.deployment is Deployment.LIVE or not (could and priced):
                return None
            # who follows a plan lists the follower, whoever made the plan
            lists = PLAN if candidate.deployment is Deployment.PLAN else candidate.strategy
            eager = gives_up_everything(group, lists, candidate.how)
            paid, static = self.pauses, spec.static
            return price(candidate.how, static, spec.owner, owner, eager=eager, pauses=paid)

        return Unforecast(load=self.measured.load, candidates=self.candidates, price_of=price_of)

    def finished(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """The candidates, now with forecasts, and with what is found about all of them."""
        group, measured = self.group, self.measured
        answers = {candidate.strategy: candidate.assignment for candidate in candidates}
        told = _about_racks(self.measured_group, self.spec, self.rule, answers.get("min_traffic"))
        told += uneven_by_subscription(self.judge, candidates)
        if measured.load is not None:
            relief = _reliefs(group, measured.load)
            candidates = [replace(c, notes=(*c.notes, *relief(c))) for c in candidates]
        if measured.live is not None and measured.live.balanced is False:
            candidates = [_with_counts(candidate, self.judge) for candidate in candidates]
        if not told:
            return candidates
        # what is found about racks and subscriptions is said of what the group has now
        return [
            replace(each, findings=(*each.findings, *told))
            if each.deployment is Deployment.LIVE
            else each
            for each in candidates
        ]


def _too_far(strategy: Assignor, group: GroupSnapshot) -> Fact | None:
    """Why a strategy is not asked unless it is named: brokers must be given ours, and then the group their protocol."""
    far = (
        SERVER_SIDE.get(base_of(strategy.name)) == BY_RACKS and group.type is not GroupType.CONSUMER
    )
    return reason("leader_assigns") if far else None


def _with_counts(candidate: Candidate, judge: Judge) -> Candidate:
    """What members have, of a group in which that could be more even."""
    if candidate.assignment is None:
        return candidate
    named = counts(judge.counts(candidate.assignment))
    return replace(candidate, counts=(fact(FactKind.COUNTS, "member_counts", [named]),))


def _reliefs(group: GroupSnapshot, load: Load) -> Callable[[Candidate], tuple[Fact, ...]]:
    """How many partitions an assignment by capacity takes from the member that gets most beyond what it can do."""
    everything = np.ones(len(load.owner), np.bool_)
    comes = sums_by_owner(load.arrivals[0], load.owner, everything, len(load.capacity))
    over = np.nan_to_num(comes - load.capacity)
    most = int(np.argmax(over))
    had = (load.owner == most) & (over[most] > 0)

    def relief(candidate: Candidate) -> tuple[Fact, ...]:
        if candidate.strategy not in BY_CAPACITY or candidate.assignment is None:
            return ()
        left = int((had & (candidate.assignment.owner != most)).sum())
        if not left:
            return ()
        name = group.roster.names[most]
        return (note("relieved_member", [name], after=left, partitions=int(had.sum())),)

    return relief


def _about_racks(
    measured_group: MeasuredGroup, spec: GroupSpec, rule: Rule, least: Assignment | None
) -> list[Fact]:
    """What is to be said of the racks of a group that could be replayed; *least* is what crosses least."""
    group, measured = measured_group.group, measured_group.measured
    if measured is None or measured.live is None:
        return []
    priced = rule.price_per_gb is None or measured.live.cross_rack_bytes_per_second is not None
    findings = (
        *strays(group),
        lost_rack_awareness(group, spec, least),
        leaders_only(group, spec),
        None if priced else unpriced(group, measured.bytes_per_record, group.partitions.assignable),
    )
    return [each for each in findings if each]


def _backlog(spec: GroupSpec, load: Load | None) -> Floats | None:
    """(P) offsets that members are behind; None where that is not known."""
    if load is not None:
        # what nobody gets on with no assignment works off
        return np.where(load.stuck, 0.0, load.backlog)
    # who has a past, and no forecast made of it, keeps up
    past = bool(np.isfinite(spec.rate).any()) and bool(spec.lag.known.all())
    return np.zeros(spec.partition_count) if past else None


def never(group: GroupSnapshot, strategy: Assignor, why: Fact) -> Candidate:
    """A strategy that has no answer for a group, and why."""
    is_running = runs(group, strategy.name)
    return infeasible(strategy.name, strategy.deployment, why, is_running=is_running)
