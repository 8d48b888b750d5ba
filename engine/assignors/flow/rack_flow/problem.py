"""Tasks, clients in racks, and what each pairing costs: the question that `solve` answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....model.arrays import Indices, Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LayerLimits:
    """
    How many tasks of a layer (a sub-topology, a topic) a client may take, as parallel arrays.

    A pair that is not listed may take none. Each pair stands once, in the order of (layer, client).

    Attributes:
        layer, client: The pair.
        most: At least 1; a number beyond the client's count or the layer's size limits nothing.
    """

    layer: Ints
    client: Ints
    most: Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RackProblem:
    """
    N tasks for C clients in R racks, each client to get a given number of them.

    Ties follow the order of tasks, clients and racks, so bring them in one that does not depend on
    how the input was listed.

    Attributes:
        cost: (N, R) what each task costs in each rack, at least 0.
        move_cost: What a task costs besides on any client but its previous owner, at least 0.
        previous_owner: (N) the client that holds a task; NONE for nobody, then every client pays *move_cost*.
        rack: (C) the rack of each client; all are known.
        count: (C) how many tasks each client gets; N in total.
        layer: (N) layer of each task, from 0. Looked at only where there are *limits*.
        limits: Who may take how many of which layer; None: anybody takes anything.
    """

    cost: Ints
    move_cost: int
    previous_owner: Indices
    rack: Indices
    count: Ints
    layer: Ints | None = None
    limits: LayerLimits | None = None

    @property
    def layers(self) -> Ints:
        """(N) the layer of each task; all one where there are no limits."""
        return np.zeros(len(self.cost), np.int64) if self.layer is None else self.layer

    def total(self, owner: Indices) -> int:
        """What an assignment costs: (N) an owner for every task."""
        in_racks = self.cost[np.arange(len(owner)), self.rack[owner]].sum()
        return int(in_racks) + self.move_cost * int((owner != self.previous_owner).sum())
