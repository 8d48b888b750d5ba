"""
Every strategy, one per file, in one explicit ordered table.

The order is the order of the scoreboard: what the group has, then Kafka's, then everybody else's.
Custom strategies are entry points of the group `evenkeel.assignors` and come after ours; one that
cannot be loaded is reported by name and harms nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import cast

from ..model.errors import InputError, no_strategy
from .balance_subtopology import BalanceSubtopology
from .balanced import Balanced
from .cooperative_sticky import CooperativeSticky
from .drain import Drain
from .fair import Fair
from .interface import Assignor, shape_problem
from .kafka.client_rack import racked
from .lag_aware import LagAware
from .live import Live
from .min_traffic import MinTraffic
from .racks_server import RacksServer
from .random import Random
from .range import Range
from .range_server import RangeServer
from .roundrobin import RoundRobin
from .sticky import Sticky
from .uniform import Uniform

__all__ = [
    "ASSIGNORS",
    "ENTRY_POINTS",
    "RACKED",
    "Custom",
    "by_name",
    "custom",
    "every",
    "include",
    "is_ours",
    "takes_user_data",
]

ENTRY_POINTS = "evenkeel.assignors"
"""The entry point group of custom strategies."""

ASSIGNORS: Mapping[str, Assignor] = MappingProxyType(
    {
        assignor.name: assignor
        for assignor in (
            Live(),
            Range(),
            RoundRobin(),
            Sticky(),
            CooperativeSticky(),
            Uniform(),
            RangeServer(),
            RacksServer(),
            Fair(),
            LagAware(),
            Random(),
            MinTraffic(),
            BalanceSubtopology(),
            Balanced(),
            Drain(),
        )
    }
)
"""Our strategies by name, in order."""

RACKED: Mapping[str, Assignor] = MappingProxyType(racked(ASSIGNORS))
"""Those of them that members have to send their racks for, as if all did; asked only where that would change things."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Custom:
    """The strategies others registered, and why some could not be loaded, by entry point name."""

    assignors: Mapping[str, Assignor]
    broken: Mapping[str, str]


def custom(points: Iterable[EntryPoint] | None = None) -> Custom:
    """
    Load the custom strategies, by name of their entry point.

    Args:
        points: Entry points to load instead of the installed ones.
    """
    assignors: dict[str, Assignor] = {}
    broken: dict[str, str] = {}
    listed = entry_points(group=ENTRY_POINTS) if points is None else points
    for point in sorted(listed, key=lambda p: p.name):
        try:
            assignor = _load(point)
            if assignor.name in assignors:
                raise InputError(f"another custom strategy is called {assignor.name!r} too.")
        except Exception as problem:  # noqa: BLE001 a stranger's module can raise anything
            broken[point.name] = f"{type(problem).__name__}: {problem}"
        else:
            assignors[assignor.name] = assignor
    return Custom(assignors=assignors, broken=broken)


def every() -> dict[str, Assignor]:
    """All strategies by name: ours in their order, then the custom ones that load."""
    return {**ASSIGNORS, **_installed().assignors, **_included}


def is_ours(strategy: Assignor) -> bool:
    """Whether it is a strategy of evenkeel, not one that only has its name."""
    name = strategy.name
    return strategy is ASSIGNORS.get(name) or strategy is RACKED.get(name)


def takes_user_data(assignor: Assignor) -> bool:
    """Whether it is a custom strategy that needs the user data of its members: ours read what members own there."""
    return "user_data" in assignor.needs and not is_ours(assignor)


def include(assignor: Assignor) -> None:
    """
    Let this process know a custom strategy that is not installed, as if it were.

    Raises:
        InputError: Its name is taken by a strategy of evenkeel.
    """
    if assignor.name in ASSIGNORS or assignor.name in RACKED:
        raise InputError(f"the name {assignor.name!r} is taken by a strategy of evenkeel.")
    _included[assignor.name] = assignor


_included: dict[str, Assignor] = {}


def by_name(name: str) -> Assignor:
    """
    The strategy of that name.

    Raises:
        InputError: There is none; the message has the nearest and all that exist, and says why a custom one
            is missing.
    """
    if name in ASSIGNORS:
        return ASSIGNORS[name]
    if name in RACKED:
        return RACKED[name]
    if name in _included:
        return _included[name]
    theirs = _installed()
    if name in theirs.assignors:
        return theirs.assignors[name]
    if name in theirs.broken:
        raise InputError(
            f"the custom strategy {name!r} cannot be loaded: {theirs.broken[name]}.",
            fix=f"Correct its entry point in the group {ENTRY_POINTS}.",
        )
    raise no_strategy(name, every())


@cache
def _installed() -> Custom:
    """Kept, because looking through all installed packages takes a while."""
    return custom()


def _load(point: EntryPoint) -> Assignor:
    """
    An assignor from an entry point that names a class, or an object that is one already.

    Raises:
        InputError: What it names lacks something of an assignor, or takes a name of ours.
    """
    loaded = point.load()
    assignor = loaded() if isinstance(loaded, type) else loaded
    if problem := shape_problem(assignor):
        raise InputError(f"{point.value} is no assignor: {problem[0]}.", fix=problem[1])
    if assignor.name != point.name:
        raise InputError(
            f"{point.value} is named {assignor.name!r}, its entry point {point.name!r}."
        )
    if assignor.name in ASSIGNORS or assignor.name in RACKED:
        raise InputError(f"the name {assignor.name!r} is taken by a strategy of evenkeel.")
    return cast(Assignor, assignor)
