"""A limit of time for a whole call: those of sockets begin anew with each byte that comes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, work: Callable[[], T]) -> T:
    """
    What a call returns or raises, if it ends in time; else it is left to itself, on a thread that keeps nobody waiting.

    >>> within(5, lambda: "done")
    'done'

    Raises:
        TimeoutError: It does not.
    """
    ended: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            ended.put((work(), None))
        except BaseException as problem:  # noqa: BLE001 it is raised where it is waited for
            ended.put((None, problem))

    threading.Thread(target=run, daemon=True).start()
    try:
        value, problem = ended.get(timeout=seconds)
    except Empty:
        raise TimeoutError(f"no answer within {seconds:g} s") from None
    if problem is not None:
        raise problem
    return value  # type: ignore[return-value]
