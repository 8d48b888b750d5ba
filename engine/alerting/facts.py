"""How each cluster's pipeline fares, read from the history."""

from __future__ import annotations

from collections.abc import Sequence

from evenkeel.engine.alerting.policy import ClusterFacts, FailingStep
from evenkeel.engine.ports import History


def read_facts(history: History, clusters: Sequence[str]) -> list[ClusterFacts]:
    """
    The facts of these clusters, in their order; a cluster the history has never heard of has empty
    ones.

    Raises:
        HistoryUnreachable: The history does not answer.
    """
    names = list(clusters)
    failing: dict[str, list[FailingStep]] = {}
    for row in history.execute("watch_steps", clusters=names):
        failing.setdefault(row.pop("cluster"), []).append(FailingStep(**row))
    unsent = {row["cluster"]: row for row in history.execute("watch_alerts", clusters=names)}
    snapshots = {row["cluster"]: row for row in history.execute("watch_snapshots", clusters=names)}
    found = []
    for name in names:
        waiting = unsent.get(name, {})
        found.append(
            ClusterFacts(
                **(snapshots.get(name) or {"cluster": name}),
                failing=tuple(failing.get(name, ())),
                unsent=waiting.get("unsent", 0),
                oldest_unsent_at=waiting.get("oldest_unsent_at"),
                unsent_channels=tuple(waiting.get("unsent_channels", ())),
                unsent_error=waiting.get("unsent_error"),
            )
        )
    return found
