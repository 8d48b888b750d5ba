"""Ports of the tasks with something standing before them: what happens at the n-th call of a task."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.helpers.dying import Between


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


class Watched(Between):
    """A port whose calls are counted."""

    def __init__(self, port: Any, calls: Calls) -> None:
        super().__init__(port, lambda _, after: calls.passed(after))
