"""`evenkeel rebalances`: why groups rebalanced, what that cost, and which settings would have made it cheaper."""

from __future__ import annotations

from typing import Annotated

from ..command_end import NothingFound, complain
from ..options import AsJson, epilog, option

EPILOG = epilog(
    [
        "evenkeel rebalances                               # all groups, the last 7 days",
        "evenkeel rebalances --group orders-app --hours 24",
        "evenkeel rebalances --cluster prod --json         # the rows of evenkeel query rebalance_bill",
        "evenkeel query rebalances --param group=orders-app   # each of them: cause, members, cost",
    ],
    [0, 1, 2, 5],
    "Partition-seconds sum for how long partitions paused. The pause of a rebalance is measured, configured "
    "(policy.rebalance_seconds) or estimated from the heartbeat interval, in which members hear of it. The number of "
    "rebalances is exact if members or brokers expose epochs, otherwise a lower bound.",
    "A setting is listed if it would have saved 20% and one partition-minute. Each setting is compared by itself.",
)


def rebalances(
    cluster: Annotated[str | None, option("--cluster NAME", "This cluster only.")] = None,
    group: Annotated[str | None, option("--group NAME", "This group only.")] = None,
    hours: Annotated[float, option("--hours N", "Length of the period.", min=0.01)] = 168,
    as_json: AsJson = False,
) -> None:
    """Show why groups rebalanced, the cost, and the settings that reduce it."""
    from ... import wiring
    from ..database import database
    from ..views.rebalances import show_bill
    from ..views.tables import emit

    settings, where = database()
    complain(f"database: {where}")
    given = {"cluster": cluster, "group": group, "hours": hours}
    asked = {name: value for name, value in given.items() if value is not None}
    rows = wiring.history(settings).query("rebalance_bill", **asked)
    if not rows:
        raise NothingFound("no rebalance in this period.")
    if as_json:
        emit(rows)
    else:
        show_bill(rows)
