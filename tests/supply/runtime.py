"""What an installed evenkeel needs with its extras: its dependencies and theirs, as they are installed here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

OURS = "evenkeel"
EXTRAS = frozenset({"pipeline", "plots"})
"""Those that users install; `pipeline` has the others in it."""


@dataclass(frozen=True)
class Installed:
    """A distribution, and the normalized names of what it needs."""

    distribution: Distribution
    needs: frozenset[str]


def closure() -> Mapping[str, Installed]:
    """evenkeel and all that it needs on this platform, with its extras, by normalized name."""
    asked: dict[str, set[str]] = {}
    needs: dict[str, set[str]] = {}
    waiting = [(OURS, EXTRAS)]
    while waiting:
        name, extras = waiting.pop()
        if name in asked and extras <= asked[name]:
            continue
        asked.setdefault(name, set()).update(extras)
        for required in _required(distribution(name), extras):
            needed = canonicalize_name(required.name)
            if needed != name:  # an extra of ours that has others in it
                needs.setdefault(name, set()).add(needed)
            waiting.append((needed, frozenset(required.extras)))
    return {
        name: Installed(distribution(name), frozenset(needs.get(name, ())))
        for name in sorted(asked)
    }


def _required(one: Distribution, extras: frozenset[str]) -> Iterator[Requirement]:
    for text in one.requires or ():
        required = Requirement(text)
        marker = required.marker
        if not marker or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield required
