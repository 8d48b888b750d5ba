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

    def at(self, name: str, after: bool) -> None:
        """
        Something is asked for, or that is over.

        Raises:
            Killed: The caller had not died here.
        """
        self.counts[name] += not after
        self.maybe("after" if after else "before", name)

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


class Between:
    """A port that stands before another, and tells of each call: its name, and whether it is over."""

    def __init__(self, port: Any, tell: Callable[[str, bool], object]) -> None:
        self._port, self._tell = port, tell

    def __getattr__(self, name: str) -> Any:
        """What the port has of that name; a method tells before and after."""
        method = getattr(self._port, name)
        if not callable(method):
            return method

        def called(*values: Any, **named: Any) -> Any:
            self._tell(name, False)
            answer = method(*values, **named)
            self._tell(name, True)
            return answer

        return called


class Dying(Between):
    """A port whose caller dies before and after each call."""

    def __init__(self, port: Any, deaths: Deaths) -> None:
        super().__init__(port, deaths.at)
