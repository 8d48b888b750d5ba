"""A thing that is wrong with rows of a dataset, and what must be said of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]
NAN = float("nan")


@dataclass(frozen=True, kw_only=True)
class Case:
    """
    One thing wrong, and the failure it must cause.

    Attributes:
        expectation: Which one, behind the name of what it is about.
        values: What a row says instead; *edit* changes all rows.
        groups: Of which groups it is said; None for none of them.
        reason: How what is said begins.
        facts: What the manifest says of the snapshot instead.
        rows: What the manifest counts instead.
    """

    expectation: str
    values: Row = field(default_factory=dict)
    edit: Callable[[list[Row]], list[Row] | None] | None = None
    groups: Sequence[str | None] = ("steady",)
    reason: str
    severity: str = "critical"
    facts: Row = field(default_factory=dict)
    rows: int | None = None

    @property
    def of(self) -> str:
        """What it is about."""
        return self.expectation.partition(":")[0]

    def apply(self, rows: list[Row], place: int) -> list[Row]:
        """The rows with this wrong, at a place."""
        if self.edit:
            return self.edit(rows) or rows
        return [row | self.values if n == place else row for n, row in enumerate(rows)]

    def check(self, found: Sequence[Row]) -> list[Row]:
        """What is said of it: once for each group, of this severity, for this reason."""
        own = [row for row in found if row["expectation"] == self.expectation]
        told = [(row["group_id"], row["severity"], row["success"]) for row in own]
        assert told == [(group, self.severity, False) for group in self.groups]
        assert all(row["reason"].startswith(self.reason) for row in own)
        return own


def again(rows: list[Row]) -> list[Row]:
    """The first row stands twice."""
    return [*rows, rows[0]]


def of_ghost(rows: list[Row]) -> list[Row]:
    """A row is of a group that is not there."""
    return [*rows, rows[0] | {"group_id": "ghost"}]
