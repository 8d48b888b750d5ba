"""
Repeated rebalances end, within the bounds of Kafka's TaskAssignorConvergenceTest.

One thread per client, five partitions to a sub-topology, stores of 150,000 offsets, an acceptable lag of 100; between
rebalances everybody restores everything.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.streams.model import ClientLine, TaskLine, application
from evenkeel.engine.streams.settings import RackStrategy, TaskConfig
from evenkeel.engine.streams.simulate import after, bound, converge
from tests.helpers.standby_judge import breaches
from tests.helpers.streams import RACKS, Shape, process, sketches, tasks_of

STRATEGIES = tuple(RackStrategy)
SKEW = {RackStrategy.NONE: 1, RackStrategy.BALANCE_SUBTOPOLOGY: 4}
"""Tasks of one sub-topology that one client may have more than another; min_traffic promises nothing here."""


@dataclass
class Cluster:
    """An application whose clients come and go, and what each kept from when it was last there."""

    tasks: list[TaskLine]
    config: TaskConfig
    chance: Random
    clients: dict[str, ClientLine] = field(default_factory=dict)
    gone: dict[str, ClientLine] = field(default_factory=dict)

    def join(self, again: bool = False):
        """A new client comes, or one that left comes back with its stores."""
        if again and self.gone:
            name = self.chance.choice(sorted(self.gone))
            self.clients[name] = self.gone.pop(name)
            return
        name = process(len(self.clients) + len(self.gone))
        self.clients[name] = ClientLine(process_id=name, rack=self.chance.choice(RACKS))

    def leave(self):
        """A client goes, and keeps its stores."""
        name = self.chance.choice(sorted(self.clients))
        self.gone[name] = self.clients.pop(name)

    def settle(self, limit):
        """Rebalance until nothing moves; every task is placed, evenly, and its copies as they should be."""
        app = self.app
        end = converge(app, self.config, limit)
        assert end.settled, f"still moving after {limit} rebalances"
        assert breaches(app, self.config, end.placement) == []
        assert (
            end.placement.active[app.stateful].tolist()
            == end.placement.target[app.stateful].tolist()
        )
        assert end.placement.standby.tolist() == end.placement.planned.tolist()
        _even(app, end.placement, self.config.strategy)
        self._remember(app, end.placement)
        return end.rounds

    @property
    def app(self):
        """The application as it is, each topic on two racks."""
        replicas = {
            pair: [RACKS[sum(map(ord, pair[0])) % 3], RACKS[pair[1] % 3]]
            for t in self.tasks
            for pair in (*t.sources, *t.changelogs)
        }
        return application(self.tasks, list(self.clients.values()), replicas)

    def _remember(self, app, placement):
        now = after(app, placement)
        for n, name in enumerate(app.clients):
            told = slice(now.lag_start[n], now.lag_start[n + 1])
            lags = {
                app.tasks[t]: int(lag)
                for t, lag in zip(now.lag_task[told], now.lag[told], strict=True)
            }
            # Who leaves runs nothing any more, but has everything up to the end.
            lags = {task: 0 for task in lags}
            self.clients[name] = replace(self.clients[name], lags=lags)


def _cluster(chance, strategy, stateless, stateful, clients, **settings):
    tasks: list[TaskLine] = []
    for count, has_state in ((stateless, False), (stateful, True)):
        for first in range(0, count, 5):
            sub = int(tasks[-1].id.split("_")[0]) + 1 if tasks else 0
            tasks += tasks_of(min(5, count - first), sub, stateful=has_state)
    config = TaskConfig(acceptable_recovery_lag=100, strategy=strategy, **settings)
    cluster = Cluster(tasks, config, chance)
    for _ in range(clients):
        cluster.join()
    return cluster


def _even(app, placement, strategy):
    """Active tasks, and stateful ones with their copies, differ by at most one; sub-topologies within their skew."""
    everyone = len(app.clients)
    active = np.bincount(placement.active, minlength=everyone)
    stateful = np.bincount(placement.active[app.stateful], minlength=everyone)
    copies = np.bincount(placement.standby, minlength=everyone)
    assert np.ptp(active) <= 1
    assert np.ptp(stateful) <= 1
    assert np.ptp(stateful + copies) <= 1
    if strategy in SKEW:
        for sub in np.unique(app.subtopology):
            held = np.bincount(placement.active[app.subtopology == sub], minlength=everyone)
            assert np.ptp(held) <= SKEW[strategy]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_first_assignment_is_the_last(strategy):
    """Nobody has anything, so nothing is on its way."""
    cluster = _cluster(Random(1), strategy, 1, 1, 1)

    assert cluster.settle(1) == 1


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_after_a_client_joins_each_task_moves_at_most_once(strategy):
    """As many at a time as may warm up, and one rebalance more."""
    cluster = _cluster(Random(2), strategy, 7, 11, 1, max_warmup_replicas=2)
    cluster.settle(1)
    cluster.join()

    assert 1 < cluster.settle(11 // 2 + 1)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_after_a_client_leaves_one_rebalance_more_may_pass(strategy):
    """Because the deal shifts for all that come after it."""
    cluster = _cluster(Random(3), strategy, 11, 13, 7, max_warmup_replicas=2)
    cluster.settle(1)
    cluster.leave()

    assert 1 < cluster.settle(13 // 2 + 2)


@given(strategy=st.sampled_from(STRATEGIES), seed=st.integers(0, 1 << 32))
def test_whoever_comes_and_goes_rebalances_end(strategy, seed):
    """Up to ten events, each of several clients; twice the stateful tasks and their standbys is the bound."""
    chance = Random(seed)
    first, stateful = chance.randint(1, 10), chance.randint(1, 10)
    cluster = _cluster(
        chance,
        strategy,
        chance.randint(1, 10),
        stateful,
        first,
        max_warmup_replicas=chance.randint(1, stateful),
        num_standby_replicas=chance.randint(0, first),
    )
    cluster.settle(1)
    for _ in range(chance.randint(1, 5)):
        coming = chance.random() < 0.5
        for _ in range(chance.randrange(first)):
            if coming:
                cluster.join(again=chance.random() < 0.5)
            elif len(cluster.clients) > 1:
                cluster.leave()
        cluster.settle(bound(cluster.app, cluster.config))


@given(sketches(Shape(known_racks=True)))
def test_from_any_past_rebalances_end(sketch):
    """Tags, threads, unknown lags and racks as tags included."""
    end = converge(sketch.app, sketch.config)

    assert end.settled
    assert len(end.warming) == end.rounds <= bound(sketch.app, sketch.config)


@given(sketches(Shape(most_tasks=6, most_clients=5)), st.integers(20_000, 400_000))
def test_slow_copies_only_take_longer(sketch, restored):
    """However little is restored between two rebalances, the end is where all would have been at once."""
    fast = converge(sketch.app, sketch.config)
    slow = converge(sketch.app, sketch.config, limit=10_000, restored=restored)

    assert slow.settled
    assert slow.placement.active.tolist() == fast.placement.active.tolist()
    assert slow.placement.standby.tolist() == fast.placement.standby.tolist()


def _two(**settings):
    """Two tasks on the second client; one of them is to go to the first."""
    clients = [
        ClientLine(process_id=process(0)),
        ClientLine(process_id=process(1), lags={"0_0": -2, "0_1": -2}),
    ]
    return application(tasks_of(2), clients), TaskConfig(**settings)


def test_after_a_rebalance_clients_report_what_they_were_given():
    """Running tasks run, copies are at the end, everything else is gone."""
    app, config = _two()
    end = converge(app, config, limit=1)
    now = after(app, end.placement)

    assert (end.settled, end.warming) == (False, (1,))
    assert (now.lag_start.tolist(), now.lag_task.tolist()) == ([0, 1, 3], [0, 0, 1])
    assert now.lag.tolist() == [0, -2, -2]
    assert (now.active_start.tolist(), now.active_task.tolist()) == ([0, 0, 2], [0, 1])
    assert (now.standby_start.tolist(), now.standby_task.tolist()) == ([0, 1, 1], [0])


def test_a_copy_restores_so_many_offsets_between_rebalances():
    """150,000 offsets at 60,000 a time are within 10,000 of the end after the third: four rebalances."""
    app, config = _two()

    assert converge(app, config).rounds == 2
    assert converge(app, config, limit=9, restored=60_000).warming == (1, 1, 1, 0)


def test_the_bound_is_twice_the_stateful_tasks_and_their_standbys():
    """As in Kafka's test; and at least one rebalance, to see that nothing moves."""
    app, _ = _two()

    assert bound(app, TaskConfig(num_standby_replicas=2)) == 12
    assert bound(application([], []), TaskConfig()) == 1
