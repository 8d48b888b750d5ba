"""Other implementations that answer the same cases, one column each."""

from __future__ import annotations

from typing import Protocol

from tests.benchmarks.cases import Case


class Peer(Protocol):
    """Somebody else's strategies."""

    name: str

    def milliseconds(self, case: Case, strategy: str, repeat: int) -> float | None:
        """The median time of *repeat* warm calls; None where the peer has no such strategy."""


PEERS: tuple[Peer, ...] = ()
"""In the order of the columns."""
