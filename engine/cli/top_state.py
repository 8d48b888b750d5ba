"""What `evenkeel top` shows of its groups, and how keys change it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

QUIT = "q"

_LETTERS = {"k": "up", "j": "down", "h": "left", "l": "right", "g": "home", "G": "end"}
"""Keys without arrows, as in `less` and `vi`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """
    What is on the screen when a key is pressed.

    Attributes:
        groups: Ids of the listed groups, in their order.
        rows: Number of rows that the screen has for them.
        lines: Number of lines of the open group.
    """

    groups: Sequence[str]
    rows: int
    lines: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TopState:
    """
    What is shown: groups, or one of them.

    Attributes:
        group: The selected group; None for the first one, whichever that is.
        is_open: Whether its members and partitions are shown.
        first: Number of their lines above the screen.
        name: Text in the names of the listed groups.
        is_typing: Whether keys change *name*.
    """

    group: str | None = None
    is_open: bool = False
    first: int = 0
    name: str = ""
    is_typing: bool = False

    def lists(self, group: str) -> bool:
        """Whether a group is listed; upper and lower case are the same."""
        return self.name.casefold() in group.casefold()

    def place(self, groups: Sequence[str]) -> int:
        """Index of the selected group; the first one replaces a group that is no longer listed."""
        return groups.index(self.group) if self.group in groups else 0

    def pressed(self, key: str, page: Page) -> TopState | None:
        """
        The state after a key; None after the one that quits.

        Args:
            key: A letter, or a name of `keyboard.KEYS`.
            page: What was on the screen.
        """
        if self.is_typing:
            return self._typed(key)
        key = _LETTERS.get(key, key)
        if key == QUIT:
            return None
        steps = _steps(page.rows)
        return self._scrolled(key, page, steps) if self.is_open else self._moved(key, page, steps)

    def _typed(self, key: str) -> TopState:
        if key == "enter":
            return replace(self, is_typing=False)
        if key == "escape":
            return replace(self, is_typing=False, name="")
        if key == "backspace":
            return replace(self, name=self.name[:-1])
        return replace(self, name=self.name + key) if len(key) == 1 else self

    def _moved(self, key: str, page: Page, steps: Mapping[str, int]) -> TopState:
        if key == "/":
            return replace(self, is_typing=True)
        if key == "escape":
            return replace(self, name="")
        if not page.groups:
            return self
        place = self.place(page.groups)
        if key in ("enter", "right"):
            return replace(self, group=page.groups[place], is_open=True, first=0)
        if key in steps:
            place = min(max(place + steps[key], 0), len(page.groups) - 1)
            return replace(self, group=page.groups[place] if place else None)
        return self

    def _scrolled(self, key: str, page: Page, steps: Mapping[str, int]) -> TopState:
        if key in ("escape", "left", "backspace"):
            return replace(self, is_open=False)
        last = max(page.lines - page.rows, 0)
        return replace(self, first=min(max(self.first + steps.get(key, 0), 0), last))


def _steps(rows: int) -> Mapping[str, int]:
    """By how many rows a key moves."""
    far = 2**31
    return MappingProxyType(
        {"up": -1, "down": 1, "page up": -rows, "page down": rows, "home": -far, "end": far}
    )
