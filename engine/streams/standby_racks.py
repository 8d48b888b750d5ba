"""
Swap standbys between clients of different racks, towards the replicas of their changelogs.

Promises, the first before the second:

1. Every client keeps its number of standbys; no client gets a task it has.
2. The holders of a task, active one included, have no fewer values in any tag that counts.
3. Pair by pair, in client order, the set of swaps that lowers the cost most is made; at most
   `ROUNDS` times around, or until no pair gains.

Between two clients the least-cost flow needs no solver: what one may give and what the other may
give are sorted by what the move saves, and pairs are taken off both lists while they pay. A swapped
standby costs `non_overlap`, so each pair of swaps must save more than two of them.

Cost: a pair is looked at only when its two best moves together would pay, by a table clients x
racks. Source: KIP-925, section C; `RackAwareTaskAssignor` of Kafka 4.3. Unlike Kafka's, the tags
that are kept are those configured to count, each for itself, not the number of all tags together.
What it does not do: no cycle of three clients or more.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..model.arrays import Ints
from .model import Application
from .racks import cross_rack
from .settings import Costs
from .standbys import Apart, Copies

ROUNDS = 4
"""As often as Kafka goes around."""


def swap_standbys(app: Application, copies: Copies, costs: Costs, apart: Apart) -> bool:
    """
    Bring standbys closer to their data; every client's rack must be known.

    Args:
        app: The application.
        copies: The standbys; changed.
        costs: Of a cross-rack changelog partition, and of a standby that changes hands.
        apart: The tags that count.

    Returns:
        Whether no swap is left that would pay; False when the last round still found some.
    """
    swaps = _StandbySwaps(app, copies, costs, apart)
    moved = 1
    for _ in range(ROUNDS):
        moved = sum(swaps.around(client) for client in range(len(app.clients)))
        if not moved:
            break
    copies.holders = swaps.holders
    return not moved


class _StandbySwaps:
    """The standbys while they are swapped."""

    def __init__(self, app: Application, copies: Copies, costs: Costs, apart: Apart) -> None:
        self.copies, self.apart = copies, apart
        self.holders = [list(clients) for clients in copies.holders]
        self.held = copies.by_client()
        self.rack: Ints = app.client_rack.astype(np.int64)
        self.cost: Ints = costs.traffic * cross_rack(app, app.changelog_start, app.changelog)
        self.price = 2 * costs.non_overlap
        self.best: npt.NDArray[np.float64] = np.full((len(self.held), len(app.racks)), -np.inf)
        for client in range(len(self.held)):
            self._look(client)

    def _look(self, client: int) -> None:
        """Note what the client's best standby would save in each rack."""
        tasks = self.held[client]
        if tasks:
            cost = self.cost[tasks]
            self.best[client] = (cost[:, [self.rack[client]]] - cost).max(axis=0)

    def around(self, client: int) -> int:
        """Swap with each later client in turn; how many standbys moved."""
        moved = 0
        other = client
        while True:
            rest = slice(other + 1, None)
            saves = self.best[client, self.rack[rest]] + self.best[rest, self.rack[client]]
            pays = np.flatnonzero((saves > self.price) & (self.rack[rest] != self.rack[client]))
            if not len(pays):
                return moved
            other += 1 + int(pays[0])
            moved += self._swap(client, other)

    def _swap(self, first: int, second: int) -> int:
        """The least-cost exchange between two clients; how many standbys it moved."""
        gives, takes = self._offers(first, second), self._offers(second, first)
        moved = 0
        for (saved, task), (saved_too, task_too) in zip(gives, takes, strict=False):
            if saved + saved_too + self.price >= 0:
                break
            self._hand(task, first, second)
            self._hand(task_too, second, first)
            moved += 2
        if moved:
            self._look(first)
            self._look(second)
        return moved

    def _offers(self, source: int, destination: int) -> list[tuple[int, int]]:
        """(added cost, task) of the standbys that may move, the one that saves most first."""
        here, there = self.rack[source], self.rack[destination]
        owner, offers = self.copies.owner, []
        for task in self.held[source]:
            holders = self.holders[task]
            if destination in holders or owner[task] == destination:
                continue
            if self.apart.keeps([int(owner[task]), *holders], source, destination):
                added = int(self.cost[task, there] - self.cost[task, here])
                offers.append((added, task))
        return sorted(offers)

    def _hand(self, task: int, source: int, destination: int) -> None:
        self.held[source].remove(task)
        self.held[destination].append(task)
        self.held[destination].sort()
        holders = self.holders[task]
        holders[holders.index(source)] = destination
