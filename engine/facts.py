"""
What is known beyond a number of its own, as a value: gains, losses, findings, proofs, reasons.

A fact is stored as it is, beside its sentence; `wording` makes the sentence, and nobody reads one back. Who wants to
know something asks for a kind and a measure.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

MOST_SUBJECTS = 20
"""As many subjects are kept by name, the others are counted."""


class FactKind(enum.StrEnum):
    """
    What a fact says of its measure.

    The three kinds of a proof: *exact*, nothing is better; *within*, nothing is better than *bound*; *not proven*.
    """

    GAIN = "gain"
    LOSS = "loss"
    REASON = "reason"
    FINDING = "finding"
    EXACT = "exact"
    WITHIN = "within"
    NOT_PROVEN = "not proven"
    REMARK = "remark"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """
    One thing that is known.

    Attributes:
        kind: What it says of *measure*.
        measure: A column of a score or of the metrics (`largest_member_lag`), or the name of a finding
            (`lost_rack_awareness`).
        before, after: Its values; only *after* where nothing changes.
        bound: What *after* is held against: the whole it is part of, a floor, what the policy allows.
        unit: What the values count: a unit, or a currency.
        partitions: How many partitions it is about.
        subjects: Names it is about: members, topics, strategies, partitions as `topic-number`.
        more: How many subjects are left out.
        quote: Somebody else's words as they are: an error, what a check said, what a custom strategy says.
    """

    kind: FactKind
    measure: str
    before: float | None = None
    after: float | None = None
    bound: float | None = None
    unit: str | None = None
    partitions: int | None = None
    subjects: tuple[str, ...] = ()
    more: int = 0
    quote: str | None = None


def finding(measure: str, names: Iterable[str] = (), **known: float | str | None) -> Fact:
    """
    A finding, of many subjects the first few.

    >>> finding("commits_of_no_partition", ["t"], partitions=2).subjects
    ('t',)
    """
    every = tuple(names)
    return Fact(
        kind=FactKind.FINDING,
        measure=measure,
        subjects=every[:MOST_SUBJECTS],
        more=max(0, len(every) - MOST_SUBJECTS),
        **known,  # type: ignore[arg-type]
    )


def of_kind(facts: Iterable[Fact], *kinds: FactKind) -> tuple[Fact, ...]:
    """Those of some kinds, in their order."""
    return tuple(fact for fact in facts if fact.kind in kinds)


PROOF = (FactKind.EXACT, FactKind.WITHIN, FactKind.NOT_PROVEN, FactKind.REMARK)
"""The kinds of facts that together say what is proven of an assignment."""
