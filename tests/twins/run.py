"""Brokers, pairs of twins, snapshots of all of them, and what becomes of it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from kafka.admin import KafkaAdminClient

from evenkeel.engine.model.cluster_snapshot import ClusterSnapshot
from evenkeel.engine.model.groups import GroupSnapshot
from evenkeel.engine.snapshots import groups_of
from tests.helpers.applied import settled
from tests.helpers.kafka_stage import Stage, taken
from tests.helpers.own_brokers import own_brokers
from tests.stage.workload.members import make_producer
from tests.twins.groups import COMMIT_SECONDS, Arrivals, Twins, ended
from tests.twins.judged import Judged, judged, looks
from tests.twins.plan import INTERVAL, WARM, Pair

PREFIX = "evenkeel-test-twins-"

AT_ONCE = 2
"""Groups that switch side by side: more of them would keep two cores from all the rest."""


@dataclass
class Lived:
    """What was seen of all pairs: the snapshots, and those of each group in them; when arrivals began."""

    began: float
    snapshots: list[ClusterSnapshot] = field(default_factory=list)
    seen: dict[str, list[GroupSnapshot]] = field(default_factory=dict)


Keep = Callable[[Sequence[Twins], Lived, float], None]
"""What is done with the pairs and what was seen of them, so many seconds from each switch on."""


def say(line: str) -> None:
    """Print at once, to where no command of another thread prints."""
    print(f"{datetime.now(UTC):%H:%M:%S}  {line}", file=sys.stderr, flush=True)


def run(pairs: Sequence[Pair], seconds: float, keep: Keep | None = None) -> list[Judged]:
    """
    Let all pairs live, and judge them.

    Args:
        pairs: The plan.
        seconds: For how long each is looked at from its switch on.
        keep: What else is done with what was seen.
    """
    with brokers() as bootstrap, ExitStack() as ending:
        twins = [_on(bootstrap, pair, ending) for pair in pairs]
        ending.callback(ended, twins)
        for each in twins:
            each.start()
        every = [group for each in twins for group in each.groups]
        for group in every:
            settled(group, "range")
        say(f"{len(every)} groups are whole")
        lived = _lived(bootstrap, twins, seconds)
        for group in every:
            group.check()
    if keep is not None:
        keep(twins, lived, seconds)
    return _judged(twins, lived.seen, seconds)


@contextmanager
def brokers() -> Iterator[str]:
    """Three brokers for this run, and their address."""
    with (
        TemporaryDirectory(prefix="evenkeel-twins-") as folder,
        own_brokers(Path(folder)) as cluster,
    ):
        yield cluster.bootstrap


def _on(bootstrap: str, pair: Pair, ending: ExitStack) -> Twins:
    admin = KafkaAdminClient(bootstrap_servers=bootstrap.split(","))
    ending.callback(admin.close)
    return Twins(Stage(bootstrap, f"{PREFIX}{pair.name}-", admin), pair)


def _lived(bootstrap: str, twins: Sequence[Twins], seconds: float) -> Lived:
    """Let records arrive, groups switch and scalers work; every snapshot, oldest first."""
    producer = make_producer(bootstrap, PREFIX)
    arrivals = Arrivals(producer, twins)
    lived = Lived(arrivals.began)
    switching: list[Future[None]] = []
    began = time.monotonic()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            while not _over(twins, seconds):
                if not switching and time.monotonic() - began >= WARM:
                    switching = [pool.submit(each.switch) for each in twins]
                for each in switching:
                    if each.done():
                        each.result()
                _look(bootstrap, twins, lived)
                passed = time.monotonic() - began
                time.sleep(INTERVAL - passed % INTERVAL)
        finally:
            for each in switching:
                each.cancel()
            arrivals.stop(10)
    return lived


def _over(twins: Sequence[Twins], seconds: float) -> bool:
    return all(
        each.done.is_set() and (each.since_switch or 0.0) > seconds + INTERVAL for each in twins
    )


def _look(bootstrap: str, twins: Sequence[Twins], lived: Lived) -> None:
    whole = taken(bootstrap, f"{PREFIX}*")
    lived.snapshots.append(whole)
    found = {group.group: group for group in groups_of(whole.tables, whole.started_at)}
    for name, group in found.items():
        lived.seen.setdefault(name, []).append(group)
    for each in twins:
        each.scale([lag_of(found.get(group.name)) for group in each.groups])
    behind = {
        each.pair.name: [lag_of(found.get(group.name)) for group in each.groups] for each in twins
    }
    say(", ".join(f"{name} {goes}/{stays}" for name, (goes, stays) in behind.items()))


def lag_of(group: GroupSnapshot | None) -> int | None:
    """Records between what is committed and the end, in all; None where the group is not there."""
    if group is None:
        return None
    end, committed = group.partitions.end, group.partitions.committed
    known = end.known & committed.known
    return int((end.values - committed.values)[known].sum())


def _judged(
    twins: Sequence[Twins], seen: dict[str, list[GroupSnapshot]], seconds: float
) -> list[Judged]:
    found = []
    for each in twins:
        assert each.switched_at is not None
        since = datetime.fromtimestamp(each.switched_at, UTC)
        until = each.switched_at + seconds
        own = {g.name: {s.taken_at: s for s in seen[g.name]} for g in each.groups}
        both = sorted(set.intersection(*(set(one) for one in own.values())))
        both = [at for at in both if at.timestamp() <= until]
        goes, stays = (
            looks([own[group.name][at] for at in both], COMMIT_SECONDS) for group in each.groups
        )
        pair = each.pair
        named = {"pair": pair.name, "kind": str(pair.kind), "strategy": pair.strategy}
        found.append(judged(named, goes, stays, since))
    return found
