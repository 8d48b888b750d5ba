"""What a strategy is: its shape, and what it can promise."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, runtime_checkable

from ...model.assignments import Assignment, Deployment
from .group import GroupSpec


class Promise(enum.StrEnum):
    """What a strategy can promise of its answers; `evenkeel.engine.assignors.promises` checks it."""

    COMPLETE = "every partition of a subscribed topic has an owner"
    SUBSCRIBED = "no member owns a partition of a topic that it does not subscribe to"
    REPEATABLE = "the same input gives the same answer"
    UNTOUCHED = "the input is not changed"
    ORDER_FREE = "the order of members and topics in the input does not show"
    EVEN_TOPICS = "the subscribers of a topic own equally many of its partitions, give or take one"
    EVEN_GROUP = "when all subscribe to the same, members own equally many, give or take one"


USUAL_PROMISES = frozenset(Promise) - {Promise.EVEN_TOPICS, Promise.EVEN_GROUP}
"""What every strategy promises that does not say otherwise in its *promises*."""


@runtime_checkable
class Assignor(Protocol):
    """
    A strategy: a name, what it is, and one function of the group.

    It reads nothing but its input, changes nothing, and answers the same twice. A class that promises more or less
    than `USUAL_PROMISES` says so in a class attribute *promises*, a frozenset of `Promise`.

    One of ours may take many groups at once by a method `assign_many(groups)`, which returns `Answers`: the same as
    one by one.

    It may explain its owners by a method `explain(group, partition)`, which returns facts: the steps that lead to the
    owner of a partition, the last of which names it.
    """

    name: ClassVar[str]
    works_on: ClassVar[frozenset[str]]
    """`partitions`, `tasks` or both."""
    needs: ClassVar[frozenset[str]]
    """
    `racks`, `lag`, `user_data`: what it looks at beside subscriptions.

    A strategy of the user's own that needs `user_data` has those of every member in `GroupSpec.user_data`, or is not
    asked: what a member of a group that runs it sent, a JSON object or what its method *read_user_data* makes of other
    bytes (bytes -> mapping), else what the configuration says of the member. What that may look like stands in a class
    attribute *sample_user_data*, a tuple of mappings; `evenkeel check-assignor` draws from it.
    """
    deployment: ClassVar[Deployment]
    """How a user gets it."""
    source: ClassVar[str]
    """KIP, paper or class it follows."""

    def assign(self, group: GroupSpec) -> Assignment:
        """
        Returns:
            An owner for each partition; NONE where nobody subscribes.

        Raises:
            Infeasible: It cannot run on this group; the numbers are in the message.
        """


ASSIGNOR_PARTS = ("name", "works_on", "needs", "deployment", "source", "assign")
"""What an assignor must have."""


_WORKS_ON = frozenset({"partitions", "tasks"})
_NEEDS = frozenset({"racks", "lag", "user_data"})


def shape_problem(candidate: Any) -> tuple[str, str] | None:
    """
    What keeps a candidate from being an assignor, and what would mend it; None where nothing does.

    >>> shape_problem(object())[0]
    'it has no name, works_on, needs, deployment, source, assign'
    """
    missing = [part for part in ASSIGNOR_PARTS if not hasattr(candidate, part)]
    if missing:
        return f"it has no {', '.join(missing)}", f"An assignor has {', '.join(ASSIGNOR_PARTS)}."
    named = isinstance(candidate.name, str) and candidate.name
    known = isinstance(candidate.deployment, Deployment)
    promises: Any = getattr(candidate, "promises", frozenset())
    samples: Any = getattr(candidate, "sample_user_data", ({},))
    wanted = {
        "name": None if named else "text",
        "works_on": _among(candidate.works_on, _WORKS_ON),
        "needs": _among(candidate.needs, _NEEDS),
        "deployment": None if known else "one of evenkeel.engine.assignors.interface.Deployment",
        "promises": _among(
            promises, frozenset(Promise), "evenkeel.engine.assignors.interface.Promise"
        ),
        "assign": None if callable(candidate.assign) else "a method",
        "sample_user_data": None if _are_objects(samples) else "a tuple of mappings, one at least",
    }
    for part, kind in wanted.items():
        if kind is not None:
            return f"its {part} is {getattr(candidate, part)!r}", f"It must be {kind}."
    return None


def _are_objects(value: Any) -> bool:
    listed = isinstance(value, tuple | list) and bool(value)
    return listed and all(isinstance(one, Mapping) for one in value)


def _among(value: Any, known: frozenset[Any], name: str | None = None) -> str | None:
    """What a set of words must be; None when it is one."""
    if isinstance(value, set | frozenset) and value <= known:
        return None
    return f"a frozenset out of {name or ', '.join(sorted(known))}"
