"""One Airflow in simulated time: the shapes of the DAGs, with the processor time of their tasks."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from airflow.sdk.configuration import conf

from evenkeel.dags import defaults, pool_priority
from evenkeel.dags.advise_assignments import DAG as ADVISE
from evenkeel.dags.snapshot_offsets import DAG as SNAPSHOT
from evenkeel.dags.snapshot_offsets import SCHEDULE

GAP = defaults.shortest_gap(*SCHEDULE).total_seconds()
FIRST, SPARK = "list_clusters", "measure_and_propose"


@dataclass(frozen=True, kw_only=True)
class Costs:
    """
    What tasks take.

    Attributes:
        tasks: CPU seconds of each task.
        behind: Task -> CPU seconds more for each superseded snapshot, and the most seconds for all of them.
        nothing: CPU seconds of a run that finds nothing to claim; *airflow*: more of every task.
        wait: Seconds until Airflow starts a task that may start.
    """

    tasks: Mapping[str, float]
    behind: Mapping[str, tuple[float, timedelta]]
    nothing: float
    airflow: float
    wait: float


@dataclass
class Run:
    """A run of a DAG: of all clusters, or of the snapshot of one."""

    dag: Any
    created: float
    clusters: Sequence[int]
    ended: set[tuple[str, int]] = field(default_factory=set)
    working: int = 0
    taken: float = 0.0
    behind: int = 0


@dataclass
class Job:
    """A task of a run, of one cluster. *left* are CPU seconds that it still takes, on one core."""

    run: Run
    task: Any
    cluster: int
    weight: float
    left: float = 0.0
    began: float = 0.0


def weight(task: Any, run: Run) -> float:
    """As Airflow computes it."""
    if task.pool == defaults.SPARK_POOL:
        created = pool_priority.EPOCH + timedelta(seconds=run.created)
        return pool_priority.weight(f"asset_triggered__{created:%Y-%m-%dT%H:%M:%S}", task.task_id)
    below = task.get_flat_relative_ids(upstream=False)
    return float(task.priority_weight + sum(task.dag.get_task(b).priority_weight for b in below))


class Airflow:
    """
    A scheduler and a machine that has nothing else to do.

    Attributes:
        watched: When the groups of a snapshot were evaluated, and how long after the scheduled moment.
        advised: Cluster -> when it got advice, and how old the snapshot was.
        used: (moment, CPU seconds, slot seconds of the pool `spark`) of each span of time.
        at_work: Task -> seconds that its instances ran.
        late: Task -> how many of them needed more than the time limit; they go on.
    """

    def __init__(self, cores: int, slots: int, clusters: int, costs: Costs) -> None:
        self.cores, self.clusters, self.costs = cores, range(clusters), costs
        self.slots = {defaults.SPARK_POOL: slots, "default_pool": 128}
        self.parallelism = conf.getint("core", "parallelism")
        self.now, self._number = 0.0, itertools.count()
        self._events: list[tuple[float, int, Callable[[], object]]] = []
        self._waiting, self._working = list[Job](), list[Job]()
        self.queued: dict[str, deque[Run]] = {d.dag_id: deque() for d in (SNAPSHOT, ADVISE)}
        self._unclaimed: dict[int, list[float]] = defaultdict(list)
        self.watched: list[tuple[float, float]] = []
        self.advised: dict[int, list[tuple[float, float]]] = defaultdict(list)
        self.used: list[tuple[float, float, float]] = []
        self.at_work, self.late, self._active = Counter[str](), Counter[str](), Counter[str]()

    def run(self, until: float) -> None:
        """Let time pass until a moment; `SNAPSHOT` begins at 0."""
        self._at(self.now, self._tick)
        while self.now < until:
            self._start()
            # every task gets an equal part of the cores, and one core at most
            rate = min(1.0, self.cores / max(len(self._working), 1))
            ends = [job.left / rate for job in self._working]
            span = min([self._events[0][0] - self.now, *ends])
            in_pool = sum(job.task.pool == defaults.SPARK_POOL for job in self._working)
            self.used.append((self.now, span * rate * len(self._working), span * in_pool))
            self.now += span
            for job in list(self._working):
                job.left -= span * rate
                if job.left < 1e-9:
                    self._end(job)
            while self._events[0][0] <= self.now + 1e-9:
                heapq.heappop(self._events)[2]()

    def _at(self, moment: float, what: Callable[[], object]) -> None:
        heapq.heappush(self._events, (moment, next(self._number), what))

    def _tick(self) -> None:
        """The schedule; missed runs are not caught up, so one waits at most."""
        self._at(self.now + GAP, self._tick)
        self.queued[SNAPSHOT.dag_id] = deque([Run(SNAPSHOT, self.now, self.clusters)])

    def _start(self) -> None:
        """Start what may start: runs in their order, tasks by their weight."""
        for dag in (SNAPSHOT, ADVISE):
            while self.queued[dag.dag_id] and self._active[dag.dag_id] < dag.max_active_runs:
                self._active[dag.dag_id] += 1
                run = self.queued[dag.dag_id].popleft()
                for task in dag.roots:
                    self._release(run, task, run.clusters[:1])
        for job in sorted(self._waiting, key=lambda job: (-job.weight, job.run.created)):
            in_pool = sum(each.task.pool == job.task.pool for each in self._working)
            is_free = len(self._working) < self.parallelism and in_pool < self.slots[job.task.pool]
            if is_free and job.run.working < job.run.dag.max_active_tasks:
                self._waiting.remove(job)
                self._working.append(job)
                job.run.working += 1
                job.left, job.began = self._seconds(job), self.now

    def _release(self, run: Run, task: Any, clusters: Sequence[int]) -> None:
        """Let a task wait for a slot, for the clusters where all before it has ended, once Airflow has noticed."""
        for cluster in clusters:
            if run.ended.issuperset((name, cluster) for name in task.upstream_task_ids):
                job = Job(run, task, cluster, weight(task, run))
                self._at(self.now + self.costs.wait, lambda job=job: self._waiting.append(job))

    def _seconds(self, job: Job) -> float:
        """CPU seconds of a task that starts; a cluster of 1,000 groups needs no Spark, so that each is on one core."""
        run, name, costs = job.run, job.task.task_id, self.costs
        if name == pool_priority.START:
            claimed = self._unclaimed.pop(job.cluster, [])
            run.behind, run.taken = len(claimed) - 1, claimed[-1] if claimed else 0.0
            if not claimed:
                return costs.airflow + costs.nothing
        each, limit = costs.behind.get(name, (0.0, timedelta(0)))
        whole = costs.tasks[name] + min(run.behind * each, limit.total_seconds())
        return costs.airflow + whole

    def _end(self, job: Job) -> None:
        """What follows."""
        run, name, took = job.run, job.task.task_id, self.now - job.began
        self._working.remove(job)
        self.at_work[name] += took
        self.late[name] += took > job.task.execution_timeout.total_seconds()
        run.working -= 1
        clusters = run.clusters if name == FIRST else [job.cluster]
        run.ended |= {(name, cluster) for cluster in clusters}
        if name == "take_snapshot":
            self._unclaimed[job.cluster].append(self.now)
            self.queued[ADVISE.dag_id].append(Run(ADVISE, self.now, [job.cluster]))
        elif name == "watch_groups":
            self.watched.append((self.now, self.now - run.created))
        elif name == "advise":
            self.advised[job.cluster].append((self.now, self.now - run.taken))
        if run.behind < 0 or len(run.ended) == len(run.clusters) * len(run.dag.tasks):
            self._active[run.dag.dag_id] -= 1
            return
        for below in job.task.downstream_list:
            self._release(run, below, clusters)
