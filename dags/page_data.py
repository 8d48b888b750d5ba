"""What a page of the report shows, read from the history: for `dags.pages`, in a thread."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenkeel.engine.report import FleetReport

log = logging.getLogger(__name__)


def page_of(cluster: str | None, group: str | None) -> tuple[int, str]:
    """
    The page of a group, of a cluster (*group* is None), or of what there is (both are None).

    What hinders it is said on the page, without a secret; it is never raised.

    Returns:
        A status of HTTP, and the document.
    """
    from evenkeel.engine.model.errors import ConfigError, EvenkeelError
    from evenkeel.engine.report import notice

    try:
        return _page_of(cluster, group)
    except ConfigError as problem:
        return 503, notice("The configuration cannot be used", [str(problem), _HERE])
    except EvenkeelError as problem:
        log.warning("no page: %s", problem)
        return 503, notice("The history cannot be read", [str(problem)])
    except Exception:
        log.exception("no page")
        return 500, notice(
            "Something is wrong with this page", ["The log of the API server says what."]
        )


_HERE = (
    "Airflow's API server serves this page: its environment, or Airflow's connections, have to name the history as "
    "those of the tasks do."
)


def _page_of(cluster: str | None, group: str | None) -> tuple[int, str]:
    from evenkeel.dags.connections import settings
    from evenkeel.engine import wiring
    from evenkeel.engine.model.text import report_place
    from evenkeel.engine.report import Served, group_name, notice, render
    from evenkeel.engine.report.from_history import stored_report

    history = wiring.report_history(settings())
    clusters = history.report_clusters()
    ways = {name: f"./{report_place(name)}" for name in clusters}
    if not clusters:
        lines = ["The first page comes with the first snapshot that is measured."]
        return 200, notice("No snapshot yet", lines)
    if cluster is None and len(clusters) > 1:
        return 200, notice("Consumer groups", ["Of which cluster?"], ways)
    cluster = clusters[0] if cluster is None else cluster
    if cluster not in clusters:
        lines = [f"The history has no snapshot of {group_name(cluster)}, but of others."]
        return 404, notice("Nothing is known of this cluster", lines, ways)
    if group is None:
        return 200, render(stored_report(history, cluster), Served(clusters=clusters))
    fleet = stored_report(history, cluster, group=group)
    if not fleet.groups:
        all_groups = {"All groups": f"./{report_place(cluster)}"}
        return 404, notice("There is no such group", _missing(fleet, group), all_groups)
    return 200, render(fleet, Served(clusters=clusters, alone=True))


def _missing(fleet: FleetReport, group: str) -> list[str]:
    """Why there is no page of a group."""
    from evenkeel.engine.model.text import several
    from evenkeel.engine.report import group_name

    if not fleet.taken_at:
        return [f"No snapshot of {fleet.cluster} has been judged yet."]
    newest = several(len(fleet.taken_at), "snapshot")
    return [
        f"None of the newest {newest} of {fleet.cluster} that were judged has a group {group_name(group)}.",
        "One that was seen for the first time has its page once that snapshot is judged, minutes later.",
    ]
