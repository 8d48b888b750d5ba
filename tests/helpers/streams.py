"""Random Streams applications: racks, tags, threads, lags and pasts as they occur, by seed or by Hypothesis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from uuid import UUID

from hypothesis import strategies as st

from evenkeel.engine.streams.model import Application, ClientLine, TaskLine, application
from evenkeel.engine.streams.settings import Costs, RackStrategy, TaskConfig

RACKS = ("rack-a", "rack-b", "rack-c")
LAGS = (-2, -3, 0, 10, 100, 101, 5_000, 50_000)


@dataclass(frozen=True)
class Shape:
    """
    What kind of applications to make.

    *known_racks*: every rack is known. *grid*: every client has every tag, and every combination of their
    values occurs. *lags*: clients tell of tasks; without them nobody has anything.
    """

    most_tasks: int = 14
    most_clients: int = 8
    known_racks: bool = False
    grid: bool = False
    lags: bool = True
    strategies: tuple[RackStrategy, ...] = tuple(RackStrategy)


@dataclass(frozen=True)
class Sketch:
    """An application in names, and its settings."""

    tasks: list[TaskLine]
    clients: list[ClientLine]
    replicas: dict[tuple[str, int], list[str | None]]
    config: TaskConfig = field(default_factory=TaskConfig)

    @property
    def app(self) -> Application:
        """The application in numbers."""
        return application(self.tasks, self.clients, self.replicas)

    def shuffled(self, chance: Random) -> Sketch:
        """The same application told in another order."""
        return replace(
            self,
            tasks=chance.sample(self.tasks, len(self.tasks)),
            clients=chance.sample(self.clients, len(self.clients)),
            replicas=dict(chance.sample(list(self.replicas.items()), len(self.replicas))),
        )


def process(number: int) -> str:
    """A process id that sorts as its number does; from 100 on they are negative, and come first."""
    return str(UUID(int=number if number < 100 else (1 << 127) + number))


def tasks_of(
    count: int, subtopology: int = 0, *, stateful: bool = True, log_size: int = 150_000
) -> list[TaskLine]:
    """Tasks of one sub-topology with a source each, and a changelog when stateful."""
    return [
        TaskLine(
            id=f"{subtopology}_{p}",
            sources=[(f"source-{subtopology}", p)],
            changelogs=[(f"changelog-{subtopology}", p)] if stateful else [],
            stateful=stateful,
            log_size=log_size if stateful else 0,
        )
        for p in range(count)
    ]


def sketch(chance: Random, shape: Shape = Shape()) -> Sketch:
    """A random application; equal chance, equal application."""
    tasks: list[TaskLine] = []
    while not tasks or (len(tasks) < shape.most_tasks and chance.random() < 0.6):
        room = shape.most_tasks - len(tasks)
        size = chance.choice([0, 100, 50_000, 1_000_000])
        stateful = chance.random() < 0.8
        count = chance.randint(1, min(room, 8))
        subtopology = int(tasks[-1].id.split("_")[0]) + 1 if tasks else 0
        tasks += tasks_of(count, subtopology, stateful=stateful, log_size=size)
    keys = chance.sample(["zone", "cluster", "host"], chance.choice([0, 1, 1, 2]))
    clients = _clients(chance, shape, tasks, keys)
    racks = [*RACKS] if shape.known_racks or chance.random() < 0.8 else [*RACKS, None]
    replicas = {
        pair: chance.sample(racks, chance.choice([1, 1, 2]))
        for t in tasks
        for pair in (*t.sources, *t.changelogs)
        if shape.known_racks or chance.random() < 0.99
    }
    config = TaskConfig(
        num_standby_replicas=chance.choice([0, 1, 1, 2, 3]),
        acceptable_recovery_lag=chance.choice([0, 100, 10_000]),
        max_warmup_replicas=chance.choice([1, 2, 2, 100]),
        tags=tuple(keys) if chance.random() < 0.6 else (),
        rack_as_tag=chance.random() < 0.3,
        strategy=chance.choice(shape.strategies),
        costs=chance.choice([Costs(traffic=10, non_overlap=1), Costs(traffic=1, non_overlap=10)]),
    )
    return Sketch(tasks, clients, replicas, config)


def _clients(
    chance: Random, shape: Shape, tasks: Sequence[TaskLine], keys: Sequence[str]
) -> list[ClientLine]:
    numbers = chance.sample(range(200), chance.randint(1, shape.most_clients))
    combinations = _grid(keys) if shape.grid else []
    while len(numbers) < len(combinations):
        numbers.append(200 + len(numbers))
    stateful = [t.id for t in tasks if t.stateful]
    density = chance.choice([0.0, 0.1, 0.5, 0.9]) if shape.lags else 0.0
    racks = [*RACKS] if shape.known_racks or chance.random() < 0.8 else [*RACKS, None]
    clients = []
    for i, number in enumerate(numbers):
        if combinations:
            tags = combinations[i % len(combinations)]
        else:
            present = [k for k in keys if chance.random() < 0.9]
            tags = {k: f"{k}-{chance.randint(0, 2)}" for k in present}
        clients.append(
            ClientLine(
                process_id=process(number),
                threads=chance.choice([1, 1, 2, 3]),
                rack=chance.choice(racks),
                tags=tags,
                lags={t: chance.choice(LAGS) for t in stateful if chance.random() < density},
            )
        )
    return clients


def _grid(keys: Sequence[str]) -> list[dict[str, str]]:
    """Every combination of values: three for the first key, two for each other."""
    combinations: list[dict[str, str]] = [{}]
    for k, key in enumerate(keys):
        values = [f"{key}-{v}" for v in range(2 if k else 3)]
        combinations = [{**one, key: value} for one in combinations for value in values]
    return combinations


def sketches(shape: Shape = Shape()) -> st.SearchStrategy[Sketch]:
    """Random applications for Hypothesis, which can cut them down to fewer tasks and clients."""
    return st.builds(
        lambda tasks, clients, seed: sketch(
            Random(seed), replace(shape, most_tasks=tasks, most_clients=clients)
        ),
        st.integers(1, shape.most_tasks),
        st.integers(1, shape.most_clients),
        st.integers(0, 1 << 32),
    )
