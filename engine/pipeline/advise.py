"""The step `advise`: from candidates, metrics and earlier states to advice for every group."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..advice import decide
from ..advice.counterfactual import BestWay, Present, is_over
from ..advice.decide import may_be_deployed, may_be_had
from ..advice.inputs import FollowedPlan, LiveFigures, Sight
from ..advice.lifecycle import barred, follow, gone, kept_strategy
from ..advice.live_and_candidate import is_less
from ..advice.screen import may_speak
from ..config import Policy, Settings
from ..messages.wording import because, how, words
from ..metrics.ownership import fingerprint_of
from ..model.arrays import NONE, Flags
from ..model.assignments import ABLE, Advice, AdviceState, Candidate, Deployment, Move
from ..model.facts import reason
from ..model.logs import logger
from ..model.moments import utc_now
from ..model.states import HALTED, Diagnosis
from ..ports import AdviceHistory, Lake
from ..records import AdviceRow, CandidateRow, Course, schema_of
from ..snapshots import rows_of_groups, split_snapshot_id
from ..snapshots.chunks import in_halves
from ..snapshots.groups_with_past import taken_at
from ..snapshots.partitions import RowsOfGroups
from ..snapshots.validation import BEFORE_ADVICE, rejected_as_a_whole, skipped_groups
from .candidate_rows import SCORED, candidate_of, facts_by_row, scored
from .present import MovesOf, Read, best_ways, shown
from .propose import moves_of

_log = logger(__name__)


def of_lake(lake: Lake, snapshot_id: str) -> Read:
    """Stored tables of a snapshot."""
    return lambda dataset, groups, columns: lake.read(
        dataset, [snapshot_id], groups=groups, columns=columns
    )


WORTH = 0.05
"""A strategy is followed that is forecast to take away so large a share of the lag integral."""

METRICS = (
    *("group_id", "partitions", "unknown_lag_partitions", "production_per_second", "diagnosis"),
    *("total_lag", "delay_seconds", "assignment", "commit_ages_seconds", "commit_interval_seconds"),
)
"""The columns of group metrics that advice uses, besides its facts."""


def metrics_by_group(read: Read) -> dict[str, dict[str, Any]]:
    """
    Those columns by group, `utilization` of its busiest member, of those whose capacity is known, and its `findings`.
    """
    members = read("member_metrics", None, ["group_id", "utilization"])
    members = members.filter(members["utilization"].known).sorted_by("group_id", "utilization")
    last = np.diff(members["group_id"].codes(), append=NONE) != 0
    busiest = {row["group_id"]: row["utilization"] for row in members.filter(last).to_pylist()}
    groups = read("group_metrics", None, [*METRICS, "facts"])
    facts = groups["facts"]
    found = facts_by_row(facts, np.ones(len(facts.entries), np.bool_))
    return {
        row["group_id"]: row
        | {"utilization": busiest.get(row["group_id"]), "findings": found.get(number, ())}
        for number, row in enumerate(groups.select(METRICS).to_pylist())
    }


def live_figures(metrics: Mapping[str, Any], candidates: Sequence[Candidate]) -> LiveFigures:
    """Figures of the current assignment of a group."""
    live = next((c for c in candidates if c.deployment is Deployment.LIVE), None)
    return LiveFigures(
        lag=metrics.get("total_lag"),
        delay_seconds=metrics.get("delay_seconds"),
        utilization=metrics.get("utilization"),
        cross_rack_share=live.score.cross_rack_share if live and live.score else None,
    )


def candidates_of(read: Read, wanted: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The candidate of the given strategy for each group."""
    table = read("candidates", wanted, tuple(schema_of(CandidateRow)))
    pairs = zip(*(table[name].to_pylist() for name in ("group_id", "strategy")), strict=True)
    chosen = [row for row, (group, strategy) in enumerate(pairs) if wanted.get(group) == strategy]
    return {row["group_id"]: row for row in table.take(chosen).to_pylist()}


def would_be(
    read: Read, moves_of: MovesOf, wanted: Mapping[str, Collection[str]]
) -> dict[str, dict[str, str | None]]:
    """
    Fingerprint of the assignment by group and strategy.

    Args:
        read: The tables of the snapshot.
        moves_of: What strategies move.
        wanted: Names of the strategies by group id.
    """
    if not wanted:
        return {}
    groups = [*wanted]
    identities: dict[str, dict[str, str]] = {group: {} for group in groups}
    for row in read("member_metrics", groups, ["group_id", "member_id", "identity"]).to_pylist():
        identities[row["group_id"]][row["member_id"]] = row["identity"]
    owners: dict[str, _Owners] = {group: {} for group in groups}
    columns = ["group_id", "topic", "partition", "member_id"]
    for row in read("partition_metrics", groups, columns).to_pylist():
        owners[row["group_id"]][row["topic"], row["partition"]] = row["member_id"]
    return {
        group: {
            strategy: _changed(identities[group], owners[group], moves)
            for strategy, moves in changed.items()
        }
        for group, changed in moves_of(wanted).items()
    }


_Owners = dict[tuple[str, int], str | None]
"""The owner of each partition, by topic and number."""


def _changed(
    identities: Mapping[str, str],
    owners: _Owners,
    moves: Iterable[Move],
) -> str | None:
    """The fingerprint of an assignment after some moves."""
    owner = owners | {(move.topic, move.partition): move.to_member for move in moves}
    ids = list(identities)
    place = {member: number for number, member in enumerate(ids)}
    rows = sorted(owner)
    topics = sorted({topic for topic, _ in rows})
    of_topic = {topic: number for number, topic in enumerate(topics)}
    return fingerprint_of(
        topics,
        np.array([of_topic[topic] for topic, _ in rows], np.int32),
        np.array([number for _, number in rows], np.int32),
        np.array([place.get(owner[row] or "", NONE) for row in rows], np.int32),
        [identities[member] for member in ids],
    )


def advise(
    lake: Lake, history: AdviceHistory, settings: Settings, snapshot_id: str
) -> list[AdviceRow]:
    """
    Compute and store the advice for every group of a snapshot. Stored advice is not changed.

    Advice is stored for all groups of a snapshot or for none. After a manual run for some groups, nothing is stored
    until the others have candidates. A deleted group with open advice gets a last row. Details of older snapshots are
    then deleted from the history database.

    Returns:
        The advice rows of this run, or the stored ones of an earlier run with the same result.

    Raises:
        SnapshotNotFound: The lake doesn't have the candidates or metrics of the snapshot.
    """
    cluster, _ = split_snapshot_id(snapshot_id)
    previous = {each.group_id: each.course for each in history.previous_advice(snapshot_id)}
    courses = {group: course for group, course in previous.items() if course is not None}
    read, at = of_lake(lake, snapshot_id), taken_at(lake, snapshot_id)
    followed = advised(lake, settings, snapshot_id, courses)
    groups = set(read("groups", None, ["group_id"])["group_id"].to_pylist())
    is_whole = groups <= {each.advice.group for each in followed}
    if is_whole and not lake.manifest("snapshot", snapshot_id).facts.get("problems"):
        left = [gone(course, group, at) for group, course in courses.items() if group not in groups]
        followed += [each for each in left if each is not None]
    rows = advice_rows(followed, snapshot_id, cluster, settings)
    if is_whole:
        history.store_advice(snapshot_id, rows)
        history.thin(cluster, settings.keep_detail_hours)
    return rows


def advised(
    lake: Lake, settings: Settings, snapshot_id: str, courses: Mapping[str, Course]
) -> list[FollowedPlan]:
    """The advice for the groups of a snapshot, without storing it."""
    cluster, _ = split_snapshot_id(snapshot_id)
    read, at = of_lake(lake, snapshot_id), taken_at(lake, snapshot_id)
    withheld = skipped_groups(lake, snapshot_id, *BEFORE_ADVICE)
    rejected = rejected_as_a_whole(lake, snapshot_id, *BEFORE_ADVICE)
    if rejected is not None:
        groups = read("candidates", None, ["group_id"])["group_id"].to_pylist()
        withheld = dict.fromkeys(groups, rejected)
    moves = partial(moves_of, lake, settings, snapshot_id)
    return advise_groups(read, moves, settings, cluster, at, courses, withheld)


def advise_groups(
    read: Read,
    moves_of: MovesOf,
    settings: Settings,
    cluster: str,
    at: datetime,
    courses: Mapping[str, Course],
    withheld: Mapping[str, str],
) -> list[FollowedPlan]:
    """
    The advice for every group of a snapshot: a pure function of its tables and the earlier states.

    Args:
        read: Metrics and candidates of the snapshot.
        moves_of: What strategies move.
        settings: The configuration.
        cluster: Configured name of the cluster.
        at: Start of the snapshot.
        courses: By group, the state after the previous snapshot, if there is one.
        withheld: Groups whose candidates failed validation, with the reason.

    Returns:
        Advice by group, with deployment steps for switches.
    """
    metrics = metrics_by_group(read)
    every = read("candidates", None, SCORED)
    names = sorted({*every["group_id"].to_pylist()})
    own = rows_of_groups(every, names, "position")
    policies = [settings.policy(cluster, name) for name in names]
    candidates = scored(own.rows.filter(_looked_at(own, [name in courses for name in names])))
    groups = [
        _Group(
            name=name,
            at=at,
            candidates=candidates.get(name, ()),
            deployable=deployable,
            metrics=metrics.get(name, {}),
            policy=policy,
            course=courses.get(name),
            withheld=withheld.get(name),
        )
        for name, policy, deployable in zip(
            names, policies, _deployable(own, policies), strict=True
        )
    ]
    given = would_be(
        read, moves_of, {each.name: each.advisable for each in groups if each.may_not_go_back}
    )
    seen = shown(read, metrics, [each.name for each in groups if each.is_replayed])
    best = best_ways(moves_of, seen, {each.name: each.best for each in groups if each.begins})
    by_name = {each.name: each for each in groups}
    for name, one in seen.items():
        by_name[name] = replace(by_name[name], present=one.present, best_way=best.get(name))

    def follow_all(names: Sequence[str]) -> list[FollowedPlan]:
        begin = [name for name in names if by_name[name].takes_up]
        rows = own.rows.filter(own.rows["group_id"].index_in(begin) != NONE)
        whole = {name: replace(by_name[name], candidates=all) for name, all in scored(rows).items()}
        return [whole.get(name, by_name[name]).followed(given.get(name, {})) for name in names]

    def unjudged(name: str, problem: Exception) -> list[FollowedPlan]:
        _log.exception("group %s cannot be advised", name)
        why = words(reason("replay_failed", quote=f"{type(problem).__name__}: {problem}"))
        return [replace(by_name[name], metrics={}, withheld=why).followed({})]

    parts = in_halves([*by_name], follow_all, unjudged) if by_name else []
    followed = [each for part in parts for each in part]
    return to_be_done(followed, read, moves_of, AdviceState.CONFIRMED)


def _looked_at(own: RowsOfGroups, goes_on: Sequence[bool]) -> Flags:
    """
    (n) which candidates are looked at one by one: live ones, those that may speak, and all where advice goes on.

    Args:
        own: The candidates, by group.
        goes_on: (G) whether a group has earlier advice that still counts.
    """
    is_live = own.rows["deployment"].equal(Deployment.LIVE)
    live = np.full(len(goes_on), NONE)
    live[own.group[is_live]] = np.flatnonzero(is_live)
    beside = live[own.group]
    beside = np.where(beside == NONE, np.arange(len(beside)), beside)
    every: Flags = np.array(goes_on, np.bool_)[own.group]
    every |= is_live | may_speak(own.rows, beside)
    return every


def _deployable(own: RowsOfGroups, policies: Sequence[Policy]) -> list[list[str]]:
    """(G) the scored strategies that each group can get, and may."""
    is_scored = own.rows["unowned"].known & ~own.rows["deployment"].equal(Deployment.LIVE)
    able = np.flatnonzero(is_scored & (own.rows["feasibility"].index_in(ABLE) != NONE))
    names = ("strategy", "deployment", "feasibility")
    texts = (own.rows[name].take(able).to_pylist() for name in names)
    found: list[list[str]] = [[] for _ in policies]
    for group, strategy, deployment, feasibility in zip(
        own.group[able].tolist(), *texts, strict=True
    ):
        if may_be_deployed(deployment, feasibility, policies[group]):
            found[group].append(strategy)
    return found


@dataclass(frozen=True, kw_only=True)
class _Group:
    """
    What is known of a group when it is decided on.

    Attributes:
        candidates: Those that are looked at, by position.
        deployable: Of all of them, the strategies that the group can get, and may.
    """

    name: str
    at: datetime
    candidates: Sequence[Candidate]
    deployable: Sequence[str]
    metrics: Mapping[str, Any]
    policy: Policy
    course: Course | None
    withheld: str | None
    present: Present | None = None
    best_way: BestWay | None = None

    @property
    def diagnosis(self) -> Diagnosis | None:
        """The diagnosis; None if not evaluated yet."""
        known = self.metrics.get("diagnosis")
        return Diagnosis(known) if known else None

    @cached_property
    def decision(self) -> Advice:
        """The decision for this snapshot."""
        return self.decided()

    @property
    def takes_up(self) -> bool:
        """Whether its advice begins now, or a replay does."""
        if self.course is not None:
            return False
        return self.best_way is not None or self.decision.strategy is not None

    def decided(self, without: Collection[str] = ()) -> Advice:
        """The decision for this snapshot, among all strategies but some."""
        return decide(
            group=self.name,
            candidates=[c for c in self.candidates if c.strategy not in without],
            partitions=self.metrics.get("partitions") or 0,
            lag=self.metrics.get("total_lag"),
            arrives_per_second=self.metrics.get("production_per_second"),
            unknown_lag=self.metrics.get("unknown_lag_partitions"),
            findings=self.metrics.get("findings", ()),
            diagnosis=self.diagnosis,
            kept=kept_strategy(self.course),
            policy=self.policy,
            withheld=self.withheld,
            deployable=[name for name in self.deployable if name not in without],
        )

    @property
    def may_not_go_back(self) -> bool:
        """Whether it took something up lately, so that not everything that pays may be advised."""
        seconds = self.policy.revert_cooldown_seconds
        uptakes = self.course.uptakes if self.course else ()
        return any((self.at - each.first_at).total_seconds() < seconds for each in uptakes)

    @property
    def advisable(self) -> list[str]:
        """The strategies that may be advised; none if nothing pays."""
        return [] if self.decision.strategy is None else [*self.deployable]

    @cached_property
    def best(self) -> Candidate | None:
        """The deployable candidate with the best forecast, its price in it, if it is worth a restart."""
        live = next((c for c in self.candidates if c.deployment is Deployment.LIVE), None)
        if self.diagnosis in HALTED or live is None or live.forecast is None:
            # restarts end what stands still, or nothing does: nobody knows what a strategy would save
            return None
        # one that overloads members as much only hands on what waits, and more members are late
        overload = live.forecast.overload_per_second or 0.0
        gains = (
            (each.forecast.forecast_gain_expected or 0.0, each)
            for each in self.candidates
            if each.forecast is not None
            and may_be_had(each, self.policy)
            and is_less(overload, each.forecast.overload_per_second or 0.0)
        )
        gain, best = max(gains, key=lambda one: one[0], default=(0.0, None))
        return best if gain > WORTH * live.forecast.forecast_lag_integral_expected else None

    @property
    def begins(self) -> bool:
        """Whether the best candidate begins to be replayed."""
        if self.best is None or self.withheld is not None:
            return False
        before = self.course.best if self.course else None
        if self.course is None or before is None:
            return True
        is_another = self.metrics.get("assignment") != before.assignment
        return is_another or is_over(before, self.at, self.course.at)

    @property
    def is_replayed(self) -> bool:
        """Whether another assignment is replayed, or begins to be."""
        if self.withheld is not None or not self.metrics:
            return False
        course = self.course
        if course is not None and (course.best or course.proposal):
            return True
        stays = course is not None and any(each.stays for each in course.uptakes)
        return stays or self.begins

    def sight(self, decided: Advice, given: Mapping[str, str | None]) -> Sight:
        """What this snapshot shows; *given* is what strategies would give, as fingerprints."""
        return Sight(
            at=self.at,
            decided=decided,
            diagnosis=self.diagnosis,
            candidates={c.strategy: c for c in self.candidates},
            live=live_figures(self.metrics, self.candidates),
            assignment=self.metrics.get("assignment"),
            would_be=given.get(decided.strategy or ""),
            present=self.present,
            best=self.best_way,
        )

    def followed(self, given: Mapping[str, str | None]) -> FollowedPlan:
        """The next state of its advice; a strategy that may not be advised now is replaced by the next best."""
        if self.course is None and not self.takes_up:
            return FollowedPlan(advice=self.decision, course=None)
        sight = other = self.sight(self.decision, given)
        out: list[str] = []
        while (name := barred(self.course, other, self.policy)) is not None:
            out.append(name)
            other = self.sight(self.decided(out), given)
        return follow(self.course, sight if other.winner is None else other, self.policy)


def to_be_done(
    followed: Sequence[FollowedPlan], read: Read, moves_of: MovesOf, state: AdviceState
) -> list[FollowedPlan]:
    """The advice with deployment steps and moves, for groups with advice in that state."""
    wanted = {
        each.advice.group: each.advice.strategy
        for each in followed
        if each.advice.state is state and each.advice.strategy
    }
    rows = candidates_of(read, wanted)
    moves = moves_of({group: [strategy] for group, strategy in wanted.items()})

    def done(advice: Advice) -> Advice:
        row = rows.get(advice.group)
        if row is None:
            return advice
        changed = moves[advice.group].get(row["strategy"], ())
        return replace(advice, how=candidate_of(row).how, moves=tuple(changed))

    return [replace(each, advice=done(each.advice)) for each in followed]


def advice_rows(
    followed: Sequence[FollowedPlan], snapshot_id: str, cluster: str, settings: Settings
) -> list[AdviceRow]:
    """The rows of advice, with state, events and checks."""
    now, reasons = utc_now(), dict[tuple[int, ...], str]()
    # most groups have the same facts as others
    keys = [tuple(map(id, each.advice.facts)) for each in followed]
    for key, each in zip(keys, followed, strict=True):
        if key not in reasons:
            reasons[key] = because(each.advice.facts)
    return [
        _advice_row(each, reasons[key], snapshot_id, cluster, settings, now)
        for key, each in zip(keys, followed, strict=True)
    ]


def _advice_row(
    followed: FollowedPlan,
    why: str,
    snapshot_id: str,
    cluster: str,
    settings: Settings,
    now: datetime,
) -> AdviceRow:
    advice = followed.advice
    return AdviceRow(
        snapshot_id=snapshot_id,
        cluster=cluster,
        group_id=advice.group,
        verdict=advice.verdict,
        strategy=advice.strategy,
        reason=why,
        how=how(advice.how),
        best_undeployable=advice.best_undeployable,
        best_undeployable_reason=because(advice.best_undeployable_facts)
        if advice.best_undeployable_facts
        else None,
        seen=advice.seen,
        facts=(*advice.facts, *advice.how),
        best_undeployable_facts=tuple(advice.best_undeployable_facts),
        state=advice.state,
        state_since=advice.state_since,
        course=followed.course,
        owner=settings.rule(cluster, advice.group).owner,
        config_version=settings.version,
        created_at=now,
        moves=tuple(advice.moves),
        events=tuple(replace(event, cause=because(event.facts)) for event in followed.events),
        checks=followed.checks,
        regrets=followed.regrets,
    )
