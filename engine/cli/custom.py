"""An assignor out of a module or file of the user, or one sentence about why there is none."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterable
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import TypeVar, cast

from ..assignors import RACKED, by_name, custom, every, include, is_ours
from ..assignors.interface import Assignor, shape_problem
from ..model.errors import InputError, no_strategy
from ..streams.settings import RackStrategy, StickyTasks

T = TypeVar("T")

_FIX = "Fix it, or install what it needs."


def load(place: str, known: Iterable[str] = ()) -> Assignor:
    """
    The strategy of that name or place.

    Args:
        place: The name of a strategy of evenkeel or of an installed entry point, `module:Class`,
            `path/to/file.py:Class`, or `path/to/file.py` of one class; an object that is an assignor does as well.
        known: The names that an unknown one is compared with; without them, those of all strategies of partitions.

    Raises:
        InputError: There is none; the message says where the way to it ends.
    """
    if place in every() or place in RACKED or place in custom().broken:
        return by_name(place)
    where, _, name = (place, "", "") if place.endswith(".py") else place.rpartition(":")
    if not where or not (name or place.endswith(".py")):
        own = ", or your own: module:Class or path/to/file.py:Class"
        raise no_strategy(place, known or every(), more=own)
    module = _file(Path(where)) if where.endswith(".py") else _module(where)
    classes = [(n, c) for n, c in vars(module).items() if isinstance(c, type)]
    known = [n for n, c in classes if hasattr(c, "assign") and c.__module__ == module.__name__]
    has = ", ".join(known) or "no class with a method assign"
    if not name:
        if len(known) != 1:
            raise InputError(f"{where} has {has}.", fix=f"Name one class: {where}:Class.")
        name = known[0]
    try:
        strategy = attrgetter(name)(module)
    except AttributeError:
        raise InputError(f"{where} has no {name}; it has {has}.") from None
    made = (strategy, f"{name} cannot be made", "It is made without arguments.")
    assignor = _tried(*made) if isinstance(strategy, type) else strategy
    problem = _tried(lambda: shape_problem(assignor), f"{place} does not describe itself", _FIX)
    if problem is not None:
        raise InputError(f"{place} is no assignor: {problem[0]}.", fix=problem[1])
    return cast(Assignor, assignor)


def is_place(strategy: str) -> bool:
    """Whether this is `module:Class` or a file, not a name."""
    return ":" in strategy or strategy.endswith(".py")


def name_of(strategy: str) -> str:
    """
    The name of a strategy, of partitions or tasks, given by name or by place; one given by place is known from then on.

    Raises:
        InputError: There is none, it cannot be loaded, or it takes a name of evenkeel's.
    """
    of_tasks = [*RackStrategy, *StickyTasks]
    return strategy if strategy in of_tasks else _included(strategy, of_tasks)


def include_all(places: Iterable[str] | None) -> list[str]:
    """
    Let every verb of this process know the strategies of these places; their names.

    Raises:
        InputError: One cannot be loaded, or takes a name of evenkeel's.
    """
    return [_included(place) for place in places or ()]


def _included(place: str, of_tasks: Iterable[str] = ()) -> str:
    assignor = load(place, dict.fromkeys([*every(), *of_tasks]))
    if not is_ours(assignor):
        include(assignor)
    return assignor.name


def _module(name: str) -> ModuleType:
    if "" not in sys.path:
        sys.path.insert(0, "")  # the folder one stands in, as with `python -m`
    top = name.partition(".")[0]
    try:
        known = name in sys.modules or importlib.util.find_spec(top) is not None
    except (ImportError, ValueError):
        known = False
    if not known:
        raise InputError(
            f"there is no module {top!r}.",
            fix="Call from the folder it is in, install it, or give the path of the file.",
        )
    return _tried(lambda: importlib.import_module(name), f"{name} cannot be imported", _FIX)


def _file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError(f"there is no file {path}.", fix="Give its path as seen from here.")
    name = f"evenkeel_checked_{path.stem}"  # not its own: a file random.py must not hide Python's
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.append(str(path.resolve().parent))  # for what lies beside it
    loader = spec.loader
    _tried(lambda: loader.exec_module(module), f"{path} cannot be imported", _FIX)
    return module


def _tried(call: Callable[[], T], failed: str, fix: str) -> T:
    """
    Raises:
        InputError: A stranger's code raised something; with the line it arose in.
    """
    try:
        return call()
    except (Exception, SystemExit) as problem:
        frames = traceback.extract_tb(problem.__traceback__)
        theirs = [f for f in frames if f.filename != __file__ and "importlib" not in f.filename]
        line = f" ({Path(theirs[-1].filename).name}:{theirs[-1].lineno})" if theirs else ""
        told = f"{type(problem).__name__}: {problem}".rstrip(": ")
        raise InputError(f"{failed}: {told}{line}.", fix=fix) from problem
