"""
Loops that numpy cannot take over: plain Python for small groups, compiled machine code for large ones.

A kernel is an ordinary function over arrays and whole numbers. Called as it is, it runs interpreted,
which costs nothing to start; `kernel.fast` is the same function compiled by Numba, kept on disk
beside the source, else in the user's cache folder, else not at all. Starting Numba takes a process
some four seconds, compiling as long again once per machine (per process where nothing can be kept),
so `at_work` chooses by how much there is to do, and has been done so far: a process that works on
one group after another comes to compiled code in time. Kernels may call kernels that their own
module names.

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

from collections.abc import Callable
from functools import cached_property, update_wrapper
from pathlib import Path
from types import FunctionType
from typing import Generic, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

WORTH_COMPILING = 10_000_000
"""Elementary steps, some four seconds of them, from which on compiling pays even where Numba must start first."""

WORTH_GOING_ON = 5_000_000
"""Elementary steps of many small calls, after which a process may be taken to go on like that."""

WORTH_MAKING = 75_000_000
"""The same where nobody has compiled the kernel yet: as many steps as compiling some twenty kernels pays for."""


class Kernel(Generic[P, R]):
    """A function over arrays that can also be had compiled; build it with `kernel`."""

    def __init__(self, function: Callable[P, R]) -> None:
        self.function = cast(FunctionType, function)
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run it interpreted."""
        return cast(R, self.function(*args, **kwargs))

    @cached_property
    def fast(self) -> Callable[P, R]:
        """The same function compiled, with the kernels it calls."""
        import numba  # two seconds that small groups need not pay

        known = self.function.__globals__
        used = {
            name: known[name].fast
            for name in self.function.__code__.co_names
            if isinstance(known.get(name), Kernel)
        }
        twin = FunctionType(
            self.function.__code__,
            {**known, **used},
            self.function.__name__,
            self.function.__defaults__,
            self.function.__closure__,
        )
        twin.__qualname__, twin.__module__ = self.function.__qualname__, self.function.__module__
        try:
            return cast(Callable[P, R], numba.njit(cache=True)(twin))
        except RuntimeError:  # no folder to keep it in
            return cast(Callable[P, R], numba.njit(twin))

    @cached_property
    def kept(self) -> bool:
        """Whether its compiled form lies beside the source, from a process before."""
        source = Path(self.function.__code__.co_filename)
        folder, name = source.parent / "__pycache__", self.function.__qualname__
        return any(folder.glob(f"{source.stem}.{name}-*.nbi"))


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Mark a function as one that may be compiled."""
    return Kernel(function)


class Tally:
    """What a process has asked of kernels that work together, in elementary steps."""

    def __init__(self) -> None:
        self.steps = 0


def at_work(loop: Kernel[P, R], steps: int, tally: Tally | None = None) -> Callable[P, R]:
    """
    The form of a kernel that suits the work: of this call, and of all before it that were counted in *tally*.

    Args:
        loop: The kernel.
        steps: About how many elementary steps it will take.
        tally: Counts them, over one small group after another.
    """
    if tally is not None:
        tally.steps += steps
        if tally.steps >= WORTH_GOING_ON and (tally.steps >= WORTH_MAKING or loop.kept):
            return loop.fast
    return loop.fast if steps >= WORTH_COMPILING else loop
