"""Ports whose caller dies: once before and once after each thing that it asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


class Killed(BaseException):
    """The process is gone: nothing that handles errors sees it."""


@dataclass
class Deaths:
    """When its caller has died already; *look* names what is under way."""

    look: str = ""
    died: set[tuple[str, ...]] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)

    def begin(self, look: str) -> None:
        """Something is begun, or begun again."""
        self.look = look
        self.counts.clear()

    def maybe(self, when: str, name: str) -> None:
        """
        Die, unless that has happened here.

        Raises:
            Killed: It had not.
        """
        place = (self.look, when, name, str(self.counts[name]))
        if place not in self.died:
            self.died.add(place)
            raise Killed(*place)


class Dying:
    """A port that stands before another."""

    def __init__(self, port: Any, deaths: Deaths) -> None:
        self._port, self._deaths = port, deaths

    def __getattr__(self, name: str) -> Any:
        """A method of the port, with death before and after it."""
        method: Callable[..., Any] = getattr(self._port, name)

        def called(*values: Any, **named: Any) -> Any:
            self._deaths.counts[name] += 1
            self._deaths.maybe("before", name)
            answer = method(*values, **named)
            self._deaths.maybe("after", name)
            return answer

        return called
