"""
Which setting makes the rebalances of a group rarer or shorter, by what those of a period would have cost with it.

>>> happened = {"group_id": "orders-app", "partition_seconds": 800.0}
>>> [best] = advised([{**happened, "setting": "static membership", "with_setting": 200.0}])
>>> best.remedy.value, best.saves
('static membership', 0.75)

What it does not do: add up settings. Each is compared with what happened, by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..model.states import Remedy

LEAST_SHARE, LEAST_SECONDS = 0.2, 60.0
"""A setting is advised if it saves this share of the partition-seconds, and so many of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingAdvice:
    """
    A setting that would have saved a good part of what rebalances cost.

    Attributes:
        remedy: The setting.
        seconds: Partition-seconds without consumption, with it.
        saves: Share of those that it would have saved.
    """

    remedy: Remedy
    seconds: float
    saves: float


def advised(rows: Iterable[Mapping[str, Any]]) -> list[SettingAdvice]:
    """
    The settings worth their change, best first.

    Args:
        rows: Those of the query `rebalance_bill` of one group.
    """
    found = []
    for row in rows:
        cost, left = row["partition_seconds"], row["with_setting"]
        if row["setting"] is None or not cost:
            continue
        saves = (cost - left) / cost
        if saves >= LEAST_SHARE and cost - left >= LEAST_SECONDS:
            found.append(SettingAdvice(remedy=Remedy(row["setting"]), seconds=left, saves=saves))
    return sorted(found, key=lambda each: (each.seconds, list(Remedy).index(each.remedy)))
