"""
Loops that numpy cannot take over: plain Python for small groups, compiled machine code for large ones.

A kernel is an ordinary function over arrays and whole numbers. Called as it is, it runs interpreted,
which costs nothing to start; `kernel.fast` is the same function compiled by Numba, kept on disk
beside the source, else in the user's cache folder, else not at all. Starting Numba takes a process
two seconds of processor time, loading a kept form a fiftieth of one, compiling all of them twenty, once per
installation (`evenkeel admin compile`; per process where nothing can be kept). So `at_work` chooses by how
much there is to do, and has been done so far: a process that works on one group after another comes
to compiled code in time. Kernels may call kernels that their own module names.

>>> @kernel
... def total(numbers):
...     sum = 0
...     for number in numbers:
...         sum += number
...     return sum
>>> total([1, 2, 3]), at_work(total, 3) is total
(6, True)
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, cached_property, update_wrapper
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import FunctionType
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

WORTH_LOADING = 100_000
"""Elementary steps, less than a tenth of a second of them, that pay for loading kept forms where Numba runs already."""

WORTH_STARTING = 3_000_000
"""Elementary steps, two seconds of them, after which a process may be taken to go on: what starting Numba takes."""

WORTH_COMPILING = 10_000_000
"""Elementary steps of one call from which on compiling what it calls pays."""

WORTH_MAKING = 75_000_000
"""Elementary steps of many small calls, after which compiling some twenty kernels pays."""

CPU = "NUMBA_CPU_NAME"
"""Numba's variable for the processor to compile for. Unless it is set, for any: as fast, and fits everywhere."""


class Kernel(Generic[P, R]):
    """A function over arrays that can also be had compiled; build it with `kernel`."""

    started: ClassVar[bool] = False
    """Whether this process has begun to use compiled forms."""

    def __init__(self, function: Callable[P, R]) -> None:
        self.function = cast(FunctionType, function)
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run it interpreted."""
        return cast(R, self.function(*args, **kwargs))

    @cached_property
    def fast(self) -> Callable[P, R]:
        """The same function compiled, with the kernels it calls."""
        os.environ.setdefault(CPU, "generic")
        import numba  # a second that small groups need not pay

        from .kernel_cache import KeptForms

        known = self.function.__globals__
        named = {name: known.get(name) for name in self.function.__code__.co_names}
        twin: Any = FunctionType(
            self.function.__code__,
            {**known, **{n: used.fast for n, used in named.items() if isinstance(used, Kernel)}},
            self.function.__name__,
            self.function.__defaults__,
            self.function.__closure__,
        )
        twin.__qualname__, twin.__module__ = self.function.__qualname__, self.function.__module__
        twin.kernel = self
        compiled = numba.njit(twin)
        with suppress(RuntimeError):  # no folder to keep it in
            compiled._cache = KeptForms(twin)
        Kernel.started = True
        return cast(Callable[P, R], compiled)

    @property
    def source(self) -> Path:
        """The file it is written in."""
        return Path(self.function.__code__.co_filename)

    @property
    def form(self) -> str:
        """How the names of its kept files begin, under this Python and this Numba."""
        line = self.function.__code__.co_firstlineno
        name = f"{self.source.stem}.{self.function.__qualname__}-{line}"
        return f"{name}.{sys.implementation.cache_tag}-numba{_numba_version()}"

    @cached_property
    def kept(self) -> bool:
        """Whether its compiled form is kept, from a process before."""
        return self.files() != []

    def files(self) -> list[Path]:
        """Those of its kept form, from the first folder that has it: an index, and the machine code."""
        for folder in self.folders():
            if (folder / f"{self.form}.nbi").is_file():
                return sorted(folder.glob(f"{self.form}*.nb[ci]"))
        return []

    def folders(self) -> Iterator[Path]:
        """Where compiled forms may lie, best first: where the user says, beside the source, in the user's cache."""
        said = os.environ.get("NUMBA_CACHE_DIR")
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        of_source = hashlib.sha256(os.fsencode(self.source.parent)).hexdigest()[:20]
        if said:
            yield Path(said, "evenkeel", of_source)
        yield self.source.parent / "__pycache__"
        if os.path.isabs(cache):  # a user may have no home
            yield Path(cache, "evenkeel", of_source)

    @cached_property
    def stamp(self) -> str:
        """Hash of all that its compiled form was made from: its file, the constants it names, the kernels it calls."""
        known, digest = self.function.__globals__, hashlib.sha256(self.source.read_bytes())
        for name in self.function.__code__.co_names:
            value = known.get(name)
            if isinstance(value, Kernel):
                digest.update(value.stamp.encode())
            elif isinstance(value, int | float | str | tuple):
                digest.update(f"{name}={value!r}".encode())
        return digest.hexdigest()

    @property
    def worth(self) -> int:
        """Elementary steps from which on its compiled form pays: none where it is loaded."""
        if "fast" in vars(self):
            return 0
        if self.kept:
            return WORTH_LOADING if Kernel.started else WORTH_STARTING
        return WORTH_MAKING


@cache
def _numba_version() -> str | None:
    """None where it is not installed, as on a worker whose archive leaves it out."""
    try:
        return version("numba")
    except PackageNotFoundError:
        return None


KERNELS: list[Kernel[..., Any]] = []
"""Every kernel of the modules that are imported."""


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Mark a function as one that may be compiled."""
    made = Kernel(function)
    KERNELS.append(made)
    return made


class Tally:
    """What a process has asked of kernels that work together, in elementary steps."""

    of_all: ClassVar[int] = 0
    """What it has asked of all kernels that are counted."""

    def __init__(self) -> None:
        self.steps = 0

    def add(self, steps: int) -> None:
        """Count steps, beside those that `at_work` is told: what a search took in the end."""
        self.steps += steps
        Tally.of_all += steps


_compiled_only: bool | None = None


@contextmanager
def held_to(*, compiled: bool) -> Iterator[None]:
    """Let `at_work` choose one form, whatever there is to do: to compile ahead, and to compare the two."""
    global _compiled_only
    before, _compiled_only = _compiled_only, compiled
    try:
        yield
    finally:
        _compiled_only = before


def at_work(loop: Kernel[P, R], steps: int, tally: Tally | None = None) -> Callable[P, R]:
    """
    The form of a kernel that suits the work: of this call, and of all before it that were counted in *tally*.

    Args:
        loop: The kernel.
        steps: About how many elementary steps it will take.
        tally: Counts them, over one small group after another.
    """
    done = steps
    if tally is not None:
        tally.add(steps)
        # Numba is started once for all that is kept
        done = Tally.of_all if loop.kept and not Kernel.started else tally.steps
    if _compiled_only is not None:
        return loop.fast if _compiled_only else loop
    pays = done >= loop.worth or steps >= WORTH_COMPILING
    return loop.fast if pays and _numba_version() else loop


ENDLESS = 1 << 62
"""More elementary steps than anything takes."""


def steps_until_compiled(loop: Kernel[..., Any], tally: Tally) -> int:
    """Elementary steps of a kernel counted in *tally* after which its compiled form pays; `ENDLESS` where none does."""
    if _compiled_only is not None or not _numba_version():
        return ENDLESS
    done = Tally.of_all if loop.kept and not Kernel.started else tally.steps
    return max(loop.worth - done, 0)


def work(
    loop: Kernel[..., R], steps: int, tally: Tally | None, given: Sequence[Any], *changed: Any
) -> R:
    """
    Call a kernel in the form that suits the work, interpreted over lists, which are faster to walk than arrays.

    Args:
        loop, steps, tally: As for `at_work`.
        given: Its arguments; arrays among them may hold anything afterwards.
        changed: Arrays that follow them, and hold what it makes of them afterwards.
    """
    run = at_work(loop, steps, tally)
    if run is not loop:
        answer: R = run(*given, *changed)
        return answer
    lists = [one.tolist() for one in changed]
    answer = run(*(one.tolist() if hasattr(one, "tolist") else one for one in given), *lists)
    for array, one in zip(changed, lists, strict=True):
        array[...] = one
    return answer
