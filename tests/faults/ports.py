"""Ports of the tasks with something standing before them: what happens at the n-th call of a task."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Calls:
    """The calls of the task that runs, and what is to happen at some of them: (number, after) -> what."""

    number: int = -1
    planned: dict[tuple[int, bool], Callable[[], object]] = field(default_factory=dict)
    _own: int = field(default_factory=threading.get_ident)

    def begin(self, planned: dict[tuple[int, bool], Callable[[], object]]) -> None:
        """A task begins."""
        self.number, self.planned = -1, planned

    def passed(self, after: bool) -> None:
        """The task is at a port; one that runs beside it in another thread does not count."""
        if threading.get_ident() == self._own:
            self.number += not after
            if what := self.planned.pop((self.number, after), None):
                what()


class Watched:
    """A port whose calls are counted."""

    def __init__(self, port: Any, calls: Calls) -> None:
        self._port, self._calls = port, calls

    def __getattr__(self, name: str) -> Any:
        """A method of the port."""
        method = getattr(self._port, name)
        if not callable(method):
            return method

        def called(*values: Any, **named: Any) -> Any:
            self._calls.passed(after=False)
            answer = method(*values, **named)
            self._calls.passed(after=True)
            return answer

        return called
