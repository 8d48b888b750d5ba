"""
What is known beyond a number of its own, as a value: gains, losses, findings, proofs, reasons.

A fact is stored as it is, beside its sentence; `wording` makes the sentence, and nobody reads one back. Who wants to
know something asks for a kind and a measure.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from functools import partial

from .columns import Int32, column, record

MOST_SUBJECTS = 20
"""As many subjects are kept by name, the others are counted."""


MOMENT = "unix time"
"""The unit of a value that is a moment: seconds since 1970."""


class FactKind(enum.StrEnum):
    """
    What a fact says of its measure.

    A *replay* says how a strategy was asked, *how* what to do to get it, a *note* what else is to be said of it and is
    no flaw; a *diagnosis* what is the matter with a group. The kinds of a proof: *exact*, nothing is better; *within*,
    nothing is better than *bound*; *not proven*; and the *remark*, which goes with what stands before it. *Counts* name
    the numbers of partitions that members have, most first.
    """

    GAIN = "gain"
    LOSS = "loss"
    REASON = "reason"
    FINDING = "finding"
    EXACT = "exact"
    WITHIN = "within"
    NOT_PROVEN = "not proven"
    REMARK = "remark"
    REPLAY = "replay"
    NOTE = "note"
    HOW = "how"
    DIAGNOSIS = "diagnosis"
    COUNTS = "counts"


@record
class Fact:
    """One thing that is known."""

    kind: FactKind = column("What it says of its measure.")
    measure: str = column(
        "A column of a score or of metrics (largest_member_lag), or the name of a finding (lost_rack_awareness)."
    )
    before: float | None = column("Its value before, if it changes.", default=None)
    after: float | None = column("Its value, or what it becomes.", default=None)
    bound: float | None = column(
        "What that is held against: the whole it is part of, a floor, what the policy allows.",
        default=None,
    )
    unit: str | None = column("What the values count: a unit or a currency.", default=None)
    partitions: Int32 | None = column("How many partitions it is about.", default=None, at_least=0)
    subjects: tuple[str, ...] = column(
        "Whom or what it is about: members, topics, strategies, partitions as topic-number.",
        default=(),
    )
    more: Int32 = column("How many subjects are left out.", default=0, at_least=0)
    quote: str | None = column(
        "Somebody else's words: an error, a failed check, a custom strategy.", default=None
    )


def fact(
    kind: FactKind, measure: str, names: Iterable[str] = (), **known: float | str | None
) -> Fact:
    """
    A fact, of many subjects the first few by name.

    >>> told = fact(FactKind.NOTE, "tasks_run_nowhere", (f"0_{n}" for n in range(25)))
    >>> len(told.subjects), told.more
    (20, 5)
    """
    every = tuple(names)
    return Fact(
        kind=kind,
        measure=measure,
        subjects=every[:MOST_SUBJECTS],
        more=max(0, len(every) - MOST_SUBJECTS),
        **known,  # type: ignore[arg-type]
    )


finding = partial(fact, FactKind.FINDING)
"""What is remarkable, as a `fact`."""

note = partial(fact, FactKind.NOTE)
"""What else is to be said, as a `fact`."""

reason = partial(fact, FactKind.REASON)
"""Why something is so, as a `fact`."""

step = partial(fact, FactKind.HOW)
"""Something to do for a strategy, as a `fact`."""

remark = partial(fact, FactKind.REMARK)
"""What is to be said of the fact before, as a `fact`."""


def of_kind(facts: Iterable[Fact], *kinds: FactKind) -> tuple[Fact, ...]:
    """Those of some kinds, in their order."""
    return tuple(fact for fact in facts if fact.kind in kinds)


PROOF = (FactKind.EXACT, FactKind.WITHIN, FactKind.NOT_PROVEN, FactKind.REMARK)
"""The kinds of facts that together say what is proven of an assignment."""
