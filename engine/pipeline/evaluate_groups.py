"""
Evaluates groups right after a snapshot, in local mode without Spark.

Only groups that fail the quick health check (`pipeline.health_screen`) and deleted groups are evaluated. It runs before
validation; earlier snapshots and groups that validation rejected or skipped are ignored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain, islice

import numpy as np

from ..config import Settings
from ..incidents.deleted_groups import vanished_of
from ..incidents.evaluation import Judged, Judgment, Trouble
from ..incidents.troubles import judged_of
from ..metrics.observe import Observation
from ..model.batch import GroupBatch
from ..model.errors import EvenkeelError, LakeError
from ..model.facts import Fact, FactKind, fact
from ..model.groups import can_be_kept
from ..model.logs import logger
from ..model.states import Diagnosis
from ..model.tables import Table, Texts
from ..ports import Home, Lake
from ..snapshots import problems_of, split_snapshot_id
from ..snapshots.chunks import cut, in_halves, work_of
from ..snapshots.groups_with_past import (
    BatchWithPast,
    Lookback,
    lookback_of,
    of_the_past,
    read_with_past,
    taken_at,
)
from ..streams.store_copies import lost_with_one_rack
from .health_screen import plainly_well
from .measure import observed_of
from .second_process import start_if_free

UNLISTING = frozenset({"coordinator_unread", "groups_kept_moving", "groups_without_leader", "said"})
"""Read errors that may have hidden groups; one of an earlier version may have any text."""

CHUNK = 60_000
"""Number of partitions and members per chunk: with 12 earlier snapshots 120 MB in arrays."""

LARGE = 200_000
"""Partitions and members of a snapshot from which on a second process evaluates half of what has to be."""

PATIENCE = 60.0
"""Seconds that the second process may take longer."""

QUOTED = 200
"""Maximum number of characters of an error."""

_log = logger(__name__)


def judge_groups(
    lake: Lake,
    settings: Settings,
    snapshot_id: str,
    watched: Collection[str] = (),
    seen: Iterable[tuple[BatchWithPast, Observation]] = (),
) -> Judgment:
    """
    Evaluate the groups of a snapshot.

    Args:
        lake: The lake.
        settings: The configuration.
        snapshot_id: The snapshot.
        watched: Groups with an incident; a deleted one of them is reported regardless of its last snapshot.
        seen: Existing observations of groups, which are not read again.

    Raises:
        SnapshotNotFound: The lake doesn't have the snapshot.
    """
    lookback = lookback_of(lake, settings, snapshot_id, peers=False)
    listed = tuple(_group_ids(lake.read("groups", [snapshot_id], columns=["group_id"])))
    judged = [
        each
        for groups, observed in seen
        for each in _judged_of(lake, settings, lookback, groups, observed)
    ]
    judged += _judged_anew(lake, settings, lookback, {each.group_id for each in judged})
    odd = [each for each in judged if each.troubles or each.recovering or not each.known]
    odd += _gone(lake, settings, lookback, listed, watched)
    finished = lake.manifest("snapshot", snapshot_id).facts["finished_at"]
    return Judgment(
        cluster=split_snapshot_id(snapshot_id)[0],
        snapshot_id=snapshot_id,
        at=datetime.fromisoformat(finished),
        earlier=next(iter(lookback.ids[1:]), None),
        listed=listed,
        odd={each.group_id: each for each in odd if each.group_id is not None},
    )


def _judged_anew(
    lake: Lake, settings: Settings, lookback: Lookback, known: Collection[str | None]
) -> list[Judged]:
    """Evaluate groups that fail the quick check; of a large snapshot, half of them in a second process."""
    work = work_of(lake, lookback.ids[0])
    with ExitStack() as stack:
        # a lake that has an address can be opened there, too
        is_large = sum(work.values()) > LARGE and isinstance(lake, Home) and not known
        second = start_if_free(__name__, stack) if is_large else None
        known = known or _plainly_well(lake, settings, lookback)
        left = {name: size for name, size in work.items() if name not in known}
        here = len(left) if second is None else _half(left)
        mine, theirs = (dict(islice(left.items(), a, b)) for a, b in ((0, here), (here, None)))
        given = (lake, settings, lookback)
        answer = second.call(_judge_all, *given, theirs) if second and theirs else None
        judged = _judge_all(*given, mine)
        told = answer(PATIENCE) if answer else None
        return judged + (_judge_all(*given, theirs) if told is None else told)


def _half(work: Mapping[str, int]) -> int:
    """How many of some groups, in their order, are half of the work."""
    done = np.cumsum([*work.values()])
    return int(np.searchsorted(done, done[-1] / 2)) + 1 if len(done) else 0


def _judge_all(
    lake: Lake, settings: Settings, lookback: Lookback, work: Mapping[str, int]
) -> list[Judged]:
    return [
        each
        for chunk in cut(work, CHUNK)
        for each in judge_chunk(lake, settings, lookback, chunk.groups)
    ]


def judge_chunk(
    lake: Lake, settings: Settings, lookback: Lookback, names: Sequence[str]
) -> list[Judged]:
    """
    Evaluate some groups of a snapshot, in the order of *names*.

    A group that fails has only its error; others are not affected.
    """

    def judge(some: Sequence[str]) -> list[Judged]:
        groups = read_with_past(lake, settings, lookback, some)
        return _judged(settings, groups, observed_of(settings, groups))

    return [each for part in in_halves(names, judge, _unjudged) for each in part]


def _unjudged(name: str, problem: Exception) -> list[Judged]:
    """Such a group is reported like an unreadable one, so that its owner knows that it is not evaluated."""
    _log.exception("group %s cannot be evaluated", name)
    why = ": ".join(filter(None, (type(problem).__name__, str(problem))))
    failed = fact(FactKind.DIAGNOSIS, "not_evaluated", quote=why[:QUOTED])
    trouble = Trouble(kind=Diagnosis.UNKNOWN, facts=(failed,))
    return [replace(_unknown(name), troubles=(trouble,))]


def _judged_of(
    lake: Lake, settings: Settings, lookback: Lookback, groups: BatchWithPast, observed: Observation
) -> list[Judged]:
    """Evaluate groups that were measured before; on failure, read them again to isolate the broken one."""
    try:
        return _judged(settings, groups, observed)
    except Exception:  # noqa: BLE001
        _log.exception("a group could not be evaluated: its chunk is read again, group by group")
        return judge_chunk(lake, settings, lookback, [each.group for each in groups.batch.headers])


def _plainly_well(lake: Lake, settings: Settings, lookback: Lookback) -> set[str]:
    """The quick check covers all groups at once; if a broken one fails it, each is evaluated alone."""
    try:
        return plainly_well(lake, settings, lookback)
    except LakeError as problem:
        _log.warning("the quick health check failed, every group is evaluated: %s", problem)
        return set()
    except EvenkeelError:
        raise
    except Exception:  # noqa: BLE001
        _log.exception("the quick health check failed: every group is evaluated")
        return set()


def _judged(settings: Settings, groups: BatchWithPast, observed: Observation) -> list[Judged]:
    rules = [settings.incidents(each.cluster, each.group) for each in groups.batch.headers]
    at_risk = dict(_at_risk(settings, groups.batch))
    judged = judged_of(observed, rules, groups.earlier, groups.withheld, at_risk)
    return [each for each in judged if each.group_id and can_be_kept(each.group_id)]


def _at_risk(settings: Settings, batch: GroupBatch) -> Iterator[tuple[str, Fact]]:
    """Of which stores of an application one rack has all copies, by its group id."""
    for number, header in enumerate(batch.headers):
        # a group is made of its rows only where it may have stores
        if header.places_tasks:
            streams = settings.rule(header.cluster, header.group).streams
            if lost := lost_with_one_rack(batch.groups[number], streams):
                yield header.group, lost


def _unknown(name: str) -> Judged:
    return Judged(group_id=name, diagnosis=Diagnosis.UNKNOWN, known=False)


def _well(name: str) -> Judged:
    return Judged(group_id=name, diagnosis=Diagnosis.UNKNOWN)


def _group_ids(groups: Table) -> list[str]:
    return [name for name in groups["group_id"].to_pylist() if can_be_kept(name)]


def _gone(
    lake: Lake,
    settings: Settings,
    lookback: Lookback,
    listed: Collection[str],
    watched: Collection[str],
) -> Iterator[Judged]:
    """Groups that were there; one that nobody misses or that the configuration leaves out now has nothing any more."""
    newest, *before = lookback.ids
    cluster = split_snapshot_id(newest)[0]

    def listed_in(one: str) -> Texts:
        groups: Texts = lake.read("groups", [one], columns=["group_id"])["group_id"]
        return groups.used()

    lists = dict(of_the_past(before, listed_in))
    lookback = replace(lookback, ids=(newest, *lists))
    read = settings.clusters[cluster].groups.admits if cluster in settings.clusters else None
    # any of them may have been the last that was looked at, or that could list all groups; nearly all groups are on
    # every list
    there = filter(
        can_be_kept, {*chain(*(each.words for each in lists.values()))}.difference(listed)
    )
    expected = {*watched, *there} - set(listed)
    missing = {name for name in expected if read is None or read(name)}
    yield from map(_well, sorted(expected - missing))
    if not missing:
        return
    if _may_hide_groups(lake, newest):
        yield from map(_unknown, sorted(missing))
        return
    yield from _missed(lake, settings, lookback, missing)


def _missed(
    lake: Lake, settings: Settings, lookback: Lookback, missing: set[str]
) -> Iterator[Judged]:
    """Of the groups that are gone, whether records arrive in their partitions."""
    newest, *before = lookback.ids
    columns = ["topic", "partition", "end_offset", "end_at"]
    partitions = lake.read("partitions", [newest], columns=columns)
    since: datetime | None = None
    left, is_new = set(missing), True
    for number, snapshot_id in enumerate(before, start=1):
        if not left:
            break
        rows = lake.read("groups", [snapshot_id], columns=["group_id", "error"])
        readable = left.intersection(_group_ids(rows.filter(~rows["error"].known)))
        names = sorted(one for one in readable if (snapshot_id, one) not in lookback.distrusted)
        left -= set(names)
        if names:
            ids = lookback.ids[number:]
            past = Lookback(ids=ids, withheld={}, distrusted=lookback.distrusted)
            work = partial(_last_seen, lake, settings, past, partitions, since, is_new)
            for part in in_halves(names, work, lambda name, problem: [_unknown(name)]):
                yield from part
        since = taken_at(lake, snapshot_id)
        is_new &= _may_hide_groups(lake, snapshot_id)
    # longer ago than anybody looks back: whether records arrive cannot be said
    yield from map(_unknown, sorted(left))


def _last_seen(
    lake: Lake,
    settings: Settings,
    past: Lookback,
    partitions: Table,
    since: datetime | None,
    is_new: bool,
    names: Sequence[str],
) -> list[Judged]:
    """What is said of groups by how they were last; one that nobody misses is well: what was wrong with it is over."""
    groups = read_with_past(lake, settings, past, names)
    last = observed_of(settings, groups)
    judged = [
        vanished_of(last, place, partitions, since) for place in range(len(groups.batch.headers))
    ]
    return judged if is_new else [replace(each, gone=None) for each in judged]


def _may_hide_groups(lake: Lake, snapshot_id: str) -> bool:
    """Whether a snapshot may lack groups that are there."""
    problems = problems_of(lake.manifest("snapshot", snapshot_id).facts)
    return any(problem.measure in UNLISTING for problem in problems)
