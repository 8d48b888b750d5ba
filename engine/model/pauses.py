"""For how long partitions stand still while members restart, stores are restored, and a group is reassigned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .states import PauseBasis

if TYPE_CHECKING:
    from .arrays import Flags, Floats, Indices


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """
    How long a rebalance pauses a group, or a restart takes, or `RESTORED` records of a store.

    Attributes:
        seconds: The time.
        basis: How that is known.
        observed: How many observations of the group there are.
    """

    seconds: float
    basis: PauseBasis
    observed: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Standstill:
    """
    What pauses on the way to an assignment.

    Attributes:
        held_up_seconds: (P) for how long each partition stands still in all.
        lost_seconds: (M) for how long each member consumes nothing.
    """

    held_up_seconds: Floats
    lost_seconds: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Pauses:
    """
    Pauses of partitions during rebalances and restarts.

    Attributes:
        rebalance_seconds: Pause of a partition that is revoked in a rebalance.
        restart_seconds: For how long a member that restarts consumes nothing; the partitions of a static one pause.
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

    def lost_seconds(
        self, static: Flags, new_owner: Indices, held_up_seconds: Floats, *, times: float
    ) -> Floats:
        """
        (M) for how long each member consumes nothing: all that it gets stands still, or it restarts.

        While a dynamic member restarts, others have its partitions, and the group consumes less by what it could.

        Args:
            static, times: As for `held_up_seconds`.
            new_owner: (P) who gets each partition, NONE for nobody.
            held_up_seconds: (P) for how long each stands still.

        >>> import numpy as np
        >>> dynamic, then = np.zeros(2, bool), np.array([0, 0, 1])
        >>> Pauses().lost_seconds(dynamic, then, np.array([10.0, 15.0, 10.0]), times=1).tolist()
        [40.0, 40.0]
        """
        import numpy as np

        stands = np.full(len(static) + 1, np.inf)  # the last is nobody
        np.minimum.at(stands, new_owner, held_up_seconds)
        stands = np.where(np.isfinite(stands), stands, 0.0)[:-1]
        seconds: Floats = stands + np.where(static, 0.0, times * self.restart_seconds)
        return seconds


USUAL = Pauses()
"""Where nothing else is known."""

RESTORED = 1_000_000
"""Records for which a thread's time to restore them is kept."""

RESTORES = Pause(seconds=50.0, basis=PauseBasis.USUAL, observed=0)
"""The same of these records: 20,000 records/s."""
