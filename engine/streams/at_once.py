"""A placement in which nothing is on its way: no copy warms up first, and no rebalance follows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..model.arrays import NONE, Indices, ragged
from ..model.facts import Fact
from .model import Application, Placement


def placed_at_once(
    app: Application,
    active: Indices,
    copies: Sequence[Iterable[int]],
    *,
    initial: Indices | None = None,
    racks: Fact | None,
    findings: tuple[Fact, ...] = (),
) -> Placement:
    """
    The placement.

    Args:
        app: The application.
        active: (N) the client of each task.
        copies: (N) the clients that keep a copy.
        initial: (N) the client of each task before racks were looked at; *active* if left out.
        racks: Why racks played no part; None when they did.
        findings: What is remarkable.
    """
    start, standby = ragged([sorted(clients) for clients in copies])
    none_start, none = ragged([[] for _ in app.tasks])
    first = active if initial is None else initial
    return Placement(
        active=active,
        standby_start=start,
        standby=standby,
        warmup_start=none_start,
        warmup=none,
        target=np.where(app.stateful, active, NONE).astype(np.int32),
        planned_start=start,
        planned=standby,
        initial=np.where(app.stateful, first, NONE).astype(np.int32),
        probing=False,
        racks=racks,
        findings=findings,
    )
