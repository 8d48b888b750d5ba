"""The least cost of an assignment by linear programming: slow, plain, and not ours (HiGHS through scipy)."""

from __future__ import annotations

import numpy as np


def least_cost(cost, count, layer=None, limit=None):
    """
    The least total cost, None where no assignment keeps to the limits.

    The polytope of these assignments has whole-numbered corners, so the linear optimum is the optimum.

    Args:
        cost: (N, C) what each task costs on each client.
        count: (C) how many tasks each client gets.
        layer: (N) the layer of each task.
        limit: (layers, C) most tasks of a layer per client; without it there is none.
    """
    # half a second, which only those pay who ask
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix

    tasks, clients = np.shape(cost)
    pair = np.arange(tasks * clients)
    task, client = np.divmod(pair, clients)

    def sums(rows, pairs, count):
        return csr_matrix((np.ones(len(rows)), (rows, pairs)), shape=(count, len(pair)))

    at_most = {}
    if limit is not None:
        rows = np.asarray(layer)[task] * clients + client
        at_most = {"A_ub": sums(rows, pair, np.size(limit)), "b_ub": np.ravel(limit)}
    found = linprog(
        np.ravel(cost).astype(float),
        A_eq=sums(np.concatenate([task, tasks + client]), np.tile(pair, 2), tasks + clients),
        b_eq=np.concatenate([np.ones(tasks), count]),
        bounds=(0, 1),
        method="highs",
        **at_most,
    )
    return None if found.status == 2 else round(found.fun)
