"""Where a command's groups come from: Kafka now, a recording, or a lake folder."""

from __future__ import annotations

import glob
import re
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from .. import wiring
from ..config import ClusterSettings, Filter, Settings
from ..messages.wording import moment, words
from ..model.errors import ClusterUnreachable, Infeasible, InputError
from ..model.text import listed, several
from ..ports import ALL, Lake, Manifest
from ..snapshots import problems_of, split_snapshot_id
from . import demo
from .command_end import NothingFound, complain
from .configured_racks import RackedLake
from .patterns import matching, no_group

if TYPE_CHECKING:
    from ..snapshots.groups_with_past import GroupWithPast


T = TypeVar("T")

SHORTEST = 1.1
"""Seconds between two snapshots at least: their ids tell seconds apart, no less."""


@dataclass(frozen=True, kw_only=True)
class SnapshotSource:
    """
    Snapshots of one cluster in some lake; *newest* is the one that is asked about.

    *groups* is what was read of it, known where it was read just now.
    """

    settings: Settings
    lake: Lake
    cluster: str
    newest: str
    groups: Filter | None = None

    @property
    def manifest(self) -> Manifest:
        """How the newest snapshot was taken."""
        return self.lake.manifest("snapshot", self.newest)

    @property
    def is_live(self) -> bool:
        """Whether it was read just now, into a lake in memory."""
        return self.groups is not None

    def ids(self, limit: int) -> list[str]:
        """The newest and the snapshots before it, oldest first, at most *limit*."""
        return self.lake.snapshots(self.cluster, until=self.newest, limit=limit)[::-1]


def open_source(
    bootstrap: str | None,
    cluster: str | None,
    stored: str | None,
    *,
    samples: int = 1,
    every: float = 0,
) -> SnapshotSource:
    """
    What the options name: stored snapshots, or fresh ones that are kept in memory only.

    Args:
        bootstrap: Addresses of a cluster.
        cluster: A configured cluster's name, or whose snapshots to take from *stored*.
        stored: A recording or a lake folder.
        samples: How many snapshots to take of a live cluster.
        every: Seconds from one to the next.

    Raises:
        InputError: The options contradict each other, or name nothing that can be read.
        ClusterUnreachable: No broker answered.
    """
    if stored is not None:
        if bootstrap is not None:
            raise InputError("--bootstrap and --from exclude each other.", fix="Give one of them.")
        return stored_source(stored, cluster)
    settings, name = live_cluster(bootstrap, cluster)
    lake = wiring.scratch()
    ids = take(settings, name, lake, samples=samples, every=every)
    groups = settings.cluster(name).groups
    return SnapshotSource(settings=settings, lake=lake, cluster=name, newest=ids[-1], groups=groups)


def stored_source(stored: str | None, cluster: str | None) -> SnapshotSource:
    """
    The newest snapshot of a recording or a lake.

    Args:
        stored: A recording, a lake folder, or `lake` for the configured one; so is None, and that may be a demo's.
        cluster: Whose; may be left out where there is one.

    Raises:
        InputError: The cluster is not in it, or not given.
        NothingFound: It is empty.
    """
    settings = demo.settings() if stored is None else wiring.settings()
    lake = wiring.lake(settings) if stored is None else wiring.recorded(stored, settings)
    return from_lake(settings, lake, cluster, stored or settings.lake)


def from_lake(settings: Settings, lake: Lake, cluster: str | None, place: str) -> SnapshotSource:
    """
    The newest snapshot of a lake's cluster; the cluster must be given only where there are several.

    What its members were said to list when it was taken holds, unless these settings say otherwise; so do their racks.

    Raises:
        InputError: The cluster is not in it, or not given.
        NothingFound: The lake is empty.
    """
    name = chosen(lake.clusters(), cluster, place, "Take one: `evenkeel snapshot take --help`.")
    ids = lake.snapshots(name)
    recorded = lake.manifest("snapshot", ids[0]).facts.get("listings", ())
    settings = settings.remembering(recorded)
    racked = RackedLake(lake, settings)
    return SnapshotSource(settings=settings, lake=racked, cluster=name, newest=ids[0])


def chosen(known: Sequence[str], cluster: str | None, place: str, fix: str) -> str:
    """
    The cluster that is meant of those whose snapshots are kept in some place.

    Raises:
        InputError: It is not among them, or not given.
        NothingFound: There is none; *fix* is how to get one.
    """
    if not known:
        raise NothingFound(f"{place} holds no snapshot.", fix=fix)
    if cluster is None and len(known) > 1:
        raise InputError(
            f"{place} holds several clusters: {', '.join(known)}.", fix="Choose one with --cluster."
        )
    if cluster is not None and cluster not in known:
        raise InputError(
            f"{place} holds no snapshot of cluster {cluster!r} (it has {', '.join(known)}).",
            fix="Name one of those with --cluster.",
        )
    return cluster or known[0]


def newer(source: SnapshotSource, kept: int) -> SnapshotSource:
    """
    The source with a new snapshot: the next one of a live cluster, else the newest that is stored by now.

    Args:
        source: The source so far.
        kept: The number of snapshots of a live cluster that stay in memory.

    Raises:
        ClusterUnreachable: No broker answered.
    """
    lake, cluster = source.lake, source.cluster
    if not source.is_live:
        return replace(source, newest=next(iter(lake.snapshots(cluster)), source.newest))
    [newest] = take(source.settings, cluster, lake, samples=1, every=0)
    *_, oldest = lake.snapshots(cluster, limit=kept)
    lake.expire(split_snapshot_id(oldest)[1])
    return replace(source, newest=newest)


def live_cluster(bootstrap: str | None, cluster: str | None) -> tuple[Settings, str]:
    """
    The settings, or a demo's where nothing is configured, with the live cluster that the options name, and its name.

    Raises:
        InputError: Neither option names the cluster, or the address is not one.
        ConfigError: The cluster is not configured, or a key is wrong.
    """
    settings = demo.settings() if bootstrap is None else wiring.settings()
    return live(settings, bootstrap, cluster)


def live(settings: Settings, bootstrap: str | None, cluster: str | None) -> tuple[Settings, str]:
    """
    The settings with the live cluster that the options name, and its name.

    Without either option the only configured cluster is meant.

    Raises:
        InputError: Neither names the cluster, or the address is not one.
        ConfigError: The cluster is not configured.
    """
    if bootstrap is None:
        if cluster is None and len(settings.clusters) != 1:
            known = f"configured: {', '.join(sorted(settings.clusters)) or 'none'}"
            raise InputError(
                f"no cluster is given ({known}).",
                fix="Give --bootstrap HOST:PORT or --cluster NAME.",
            )
        name = cluster or next(iter(settings.clusters))
        settings.cluster(name)
        return settings, name
    name = cluster or slug(bootstrap)
    base = settings.clusters[name].model_dump() if name in settings.clusters else {}
    try:
        named = ClusterSettings(**{**base, "bootstrap": bootstrap})
    except ValidationError as problem:
        told = problem.errors(include_input=False, include_url=False)[0]["msg"]
        reason = told.removeprefix("Value error, ")
        raise InputError(f"--bootstrap: {reason}.") from None
    return settings.model_copy(update={"clusters": {**settings.clusters, name: named}}), name


def slug(bootstrap: str) -> str:
    """
    A cluster name made of the first address, for a cluster that is not configured.

    >>> slug("Kafka-1.example.com:9092,kafka-2.example.com:9092"), slug("[::1]:9092")
    ('kafka-1-example-com-9092', '1-9092')
    """
    first = bootstrap.split(",")[0].strip().lower()
    return re.sub(r"[^a-z0-9_-]+", "-", first)[-40:].strip("-_") or "cluster"


def take(
    settings: Settings,
    name: str,
    lake: Lake,
    *,
    samples: int,
    every: float,
    after: Callable[[list[str]], Any] = len,
) -> list[str]:
    """
    Take snapshots of a live cluster, and say on standard error which one is under way when there are several.

    Args:
        settings: With the cluster in them.
        name: The cluster.
        lake: Where they are kept.
        samples: How many.
        every: Seconds from the start of one to the start of the next, `SHORTEST` at least.
        after: Called with the ids so far, after each.

    Returns:
        Their ids, oldest first. One that fails after another was taken is told and left out.

    Raises:
        ClusterUnreachable: None could be taken.
    """
    from ..pipeline.snapshot import take_snapshot

    cluster = wiring.cluster(settings, name)
    ids: list[str] = []
    try:
        due = time.monotonic()
        for sample in range(samples):
            if sample:
                due = max(due + max(every, SHORTEST), time.monotonic())
                time.sleep(max(due - time.monotonic(), 0))
            if samples > 1:
                complain(f"snapshot {sample + 1} of {samples} ...")
            try:
                ids.append(take_snapshot(cluster, lake, None, settings, name))
            except ClusterUnreachable as problem:
                if not ids:
                    raise
                complain(f"snapshot {sample + 1} of {samples} failed: {problem}")
                continue
            after(ids)
    finally:
        cluster.close()
    return ids


def problems(source: SnapshotSource) -> list[str]:
    """What the newest snapshot could not read, one line each; groups are left out, they speak for themselves."""
    groups = source.lake.read("groups", [source.newest]).select(["group_id", "error"]).to_pylist()
    failed = {row["group_id"] for row in groups if row["error"] is not None}
    facts = source.manifest.facts
    about = {"group_unread": slice(None), "commits_unread": slice(1)}
    return [
        words(problem)
        for problem in problems_of(facts)
        if problem.measure not in about
        or not failed.issuperset(problem.subjects[about[problem.measure]])
    ]


def select(source: SnapshotSource, pattern: str) -> str:
    """
    The shell pattern by which steps find the groups of the newest snapshot that are meant.

    Args:
        source: The snapshots.
        pattern: A shell pattern; a group of exactly that name is meant alone, whatever signs are in it.

    Raises:
        NothingFound: No group of the snapshot matches; near names are offered.
    """
    found = among(source, pattern, group_ids(source, source.newest))
    return glob.escape(pattern) if found == [pattern] else pattern


def select_ever(source: SnapshotSource, pattern: str) -> str:
    """
    The same of all snapshots: groups that are gone by the newest are meant, too.

    Raises:
        NothingFound: No snapshot has any.
    """
    try:
        return select(source, pattern)
    except NothingFound:
        older = source.lake.snapshots(source.cluster, limit=ALL)
        if any(matching(pattern, group_ids(source, one)) for one in older):
            return pattern
        raise


def among(source: SnapshotSource, pattern: str, ids: Collection[str]) -> list[str]:
    """
    The ids that a name or shell pattern means; an id that is exactly the pattern is meant alone.

    Raises:
        NothingFound: There is none; near names are offered.
    """
    if found := matching(pattern, ids):
        return found
    _, taken_at = split_snapshot_id(source.newest)
    where = f"in cluster {source.cluster} ({several(len(ids), 'group')} at {moment(taken_at)})"
    denied = source.groups and source.groups.denying(pattern)
    if denied:
        raise no_group(
            pattern,
            f"{where}: the cluster's filter leaves out {denied!r}",
            (),
            f"`groups = {{deny = []}}` under [clusters.{source.cluster}] in evenkeel.toml admits all.",
        )
    listing = "`evenkeel lag` without --group lists them." if ids else None
    raise no_group(pattern, where, ids, listing)


def selected(source: SnapshotSource, pattern: str) -> list[GroupWithPast]:
    """
    The groups of the newest snapshot that a name or shell pattern means, each with its past, by group id.

    Raises:
        NothingFound: There is none.
        Infeasible: None can be worked on; each is told on standard error.
    """
    from ..snapshots.groups_with_past import groups_with_past

    wanted = select(source, pattern)
    found = groups_with_past(source.lake, source.settings, source.newest, wanted, tell_left_out)
    if not found:
        raise Infeasible(f"no group that {pattern!r} matches can be worked on.")
    return sorted(found, key=lambda each: each.group.group)


def tell_left_out(name: str, problem: Exception) -> None:
    """Say on standard error that a group cannot be worked on, and why."""
    complain(f"group {name} is left out: {type(problem).__name__}: {problem}")


NAMED = 10
"""As many of the groups that a pattern matches are named."""


def the_one(source: SnapshotSource, group: str, what: str) -> GroupWithPast:
    """
    The group that a name or shell pattern means, where only one can be meant.

    Args:
        source: Where groups are read.
        group: Its name, or a pattern.
        what: What is for one group only, as the error begins.

    Raises:
        NothingFound: There is none.
        InputError: There are several.
    """
    groups = selected(source, group)
    if len(groups) > 1:
        raise InputError(
            f"{what} is for one group, {group!r} matches {len(groups):,}.",
            fix=f"Name one: {listed([each.group.group for each in groups], NAMED)}.",
        )
    return groups[0]


def group_ids(source: SnapshotSource, snapshot_id: str) -> list[str]:
    """The ids of the groups of a snapshot, sorted."""
    ids: list[str] = source.lake.read("groups", [snapshot_id])["group_id"].to_pylist()
    return sorted(ids)


def each_of(groups: Sequence[T], act: Callable[[T], None], *, apart: bool) -> None:
    """
    Do the same for each group; of several, one that it cannot be done for is told on standard error.

    Args:
        groups: At least one.
        act: What to do.
        apart: Print an empty line between two.

    Raises:
        Infeasible: It could not be done for any.
    """
    done = 0
    for group in groups:
        try:
            if apart and done:
                print()
            act(group)
            done += 1
        except Infeasible as problem:
            if len(groups) == 1:
                raise
            complain(f"left out: {problem}")
    if not done:
        raise Infeasible(f"none of {len(groups):,} matching groups could be shown.")
