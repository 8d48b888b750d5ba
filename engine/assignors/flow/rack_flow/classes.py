"""Tasks by what tells them apart: all of one layer that cost the same in every rack are a class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....model.arrays import Ints
from ...kit.distinct import numbered, row_keys
from ..network import outweighing
from .problem import RackProblem


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Classes:
    """
    N tasks in K classes.

    Attributes:
        of_task: (N) class of each task.
        layer: (K) its layer; 0 for all where layers play no part.
        layers: Number of layers.
        cost: (K, R) what its tasks cost in each rack more than in their cheapest, in weights.
        move_cost: The same for moving, and 1 for the move itself: of equal costs the fewest moves win.
    """

    of_task: Ints
    layer: Ints
    layers: int
    cost: Ints
    move_cost: int


def classes_of(problem: RackProblem) -> Classes:
    """
    Args:
        problem: At least one task, one client and one rack.
    """
    tasks = len(problem.cost)
    more = problem.cost - problem.cost.min(axis=1, keepdims=True)
    key, cells = row_keys(more)
    layers = 1
    if problem.limits is not None:
        layer = problem.layers
        layers = 1 + max(int(layer.max()), int(problem.limits.layer.max(initial=0)))
        key = layer * cells + key
    keys, of_task = numbered(key, layers * cells)
    sample = np.zeros(len(keys), np.int64)
    sample[of_task] = np.arange(tasks)
    cost = more[sample]
    unit = int(np.gcd.reduce(cost, axis=None, initial=problem.move_cost)) or 1
    weight = outweighing(tasks)  # every task moves at most
    return Classes(
        of_task=of_task,
        layer=keys // cells,
        layers=layers,
        cost=cost // unit * weight,
        move_cost=problem.move_cost // unit * weight + 1,
    )
