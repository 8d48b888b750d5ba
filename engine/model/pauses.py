"""For how long partitions stand still while members restart and a group takes another assignment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .arrays import Flags, Floats, Indices


@dataclass(frozen=True, slots=True, kw_only=True)
class Pauses:
    """
    Pauses of partitions during rebalances and restarts.

    Attributes:
        rebalance_seconds: Pause of a partition that is revoked in a rebalance.
        restart_seconds: Pause of the partitions of a static member that restarts.
        eager: Whether members revoke all partitions at a rebalance.
    """

    rebalance_seconds: float = 5.0
    restart_seconds: float = 30.0
    eager: bool = False

    def held_up_seconds(
        self, static: Flags, owner: Indices, new_owner: Indices, *, rolls: int, times: float
    ) -> Floats:
        """
        (P) for how long each partition stands still in all.

        Args:
            static: (M) which members have an instance id.
            owner: (P) who has each partition now, NONE for nobody.
            new_owner: (P) who gets it.
            rolls: How many rolling restarts there are; the restart of one member counts as one.
            times: How often a member is restarted; where it is one, and not known which, its share.

        >>> import numpy as np
        >>> one_of_two = {"rolls": 1, "times": 1 / 2}
        >>> now, then, dynamic = np.array([0, 1]), np.array([0, 0]), np.zeros(2, bool)
        >>> Pauses().held_up_seconds(dynamic, now, then, **one_of_two).tolist()
        [5.0, 10.0]
        >>> Pauses(eager=True).held_up_seconds(dynamic, now, then, **one_of_two).tolist()
        [10.0, 10.0]
        """
        # a worker that only reads the configuration goes without arrays
        import numpy as np

        from .arrays import NONE

        rebalance, restart = self.rebalance_seconds, self.restart_seconds
        waited_for = np.append(static, False)[owner]
        if self.eager:
            dynamic = len(static) - int(static.sum())
            rebalances = 2 * times * dynamic + (rolls if bool(static.any()) else 0)
            held_up = rebalances * rebalance + times * restart * waited_for
        else:
            own = np.where(owner == NONE, 0.0, np.where(waited_for, restart, 2 * rebalance))
            held_up = times * own + rebalance * ((owner != new_owner) & (owner != NONE))
        seconds: Floats = held_up.astype(np.float64)
        return seconds


USUAL = Pauses()
"""Where nothing else is known."""
