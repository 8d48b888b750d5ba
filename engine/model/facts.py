"""
Facts as values: gains, losses, findings, proofs and reasons.

A fact is stored next to its sentence, which `wording` creates. Query facts by kind and measure instead of parsing
sentences.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from functools import partial

from .columns import Int32, column, record

MOST_SUBJECTS = 20
"""Maximum number of named subjects; the others are counted."""


MOMENT = "unix time"
"""The unit of a value that is a moment: seconds since 1970."""


class FactKind(enum.StrEnum):
    """
    Kind of a fact.

    *replay*: how a strategy was simulated. *how*: a step that deploys it. *note*: a remark that is not a problem.
    *diagnosis*: the diagnosis of a group. Kinds of a proof: *exact* (no assignment is better), *within* (no assignment
    is better than *bound*), *not proven*, and *remark* (about the previous fact). *counts*: numbers of partitions of
    members, largest first.
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

    kind: FactKind = column("Its kind.")
    measure: str = column(
        "A column of a score or of metrics (largest_member_lag), or the name of a finding (lost_rack_awareness)."
    )
    before: float | None = column("Its value before, if it changes.", default=None)
    after: float | None = column("Its value, or its new value.", default=None)
    bound: float | None = column(
        "Reference value: a total, a lower bound, or a limit of the policy.",
        default=None,
    )
    unit: str | None = column("Unit or currency of the values.", default=None)
    partitions: Int32 | None = column("Number of affected partitions.", default=None, at_least=0)
    subjects: tuple[str, ...] = column(
        "Subjects: members, topics, strategies, or partitions as topic-number.",
        default=(),
    )
    more: Int32 = column("Number of omitted subjects.", default=0, at_least=0)
    quote: str | None = column(
        "A quote: an error, a failed check, or text of a custom strategy.", default=None
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
"""A finding."""

note = partial(fact, FactKind.NOTE)
"""A note."""

reason = partial(fact, FactKind.REASON)
"""A reason."""

step = partial(fact, FactKind.HOW)
"""A deployment step of a strategy."""

remark = partial(fact, FactKind.REMARK)
"""A remark about the previous fact."""


def of_kind(facts: Iterable[Fact], *kinds: FactKind) -> tuple[Fact, ...]:
    """Those of some kinds, in their order."""
    return tuple(fact for fact in facts if fact.kind in kinds)


PROOF = (FactKind.EXACT, FactKind.WITHIN, FactKind.NOT_PROVEN, FactKind.REMARK)
"""The kinds of facts of a proof."""
