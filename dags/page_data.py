"""The contents of a page of the report, read from the history database in a thread (`dags.pages`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenkeel.engine.report import FleetReport


def page_of(cluster: str | None, group: str | None) -> tuple[int, str]:
    """
    The page of a group, of a cluster (*group* is None), or the overview (both are None).

    Errors are shown on the page without secrets, never raised.

    Returns:
        An HTTP status, and the document.
    """
    from evenkeel.engine.model.errors import ConfigError, EvenkeelError
    from evenkeel.engine.model.logs import logger
    from evenkeel.engine.report import notice

    log = logger(__name__)
    try:
        return _page_of(cluster, group)
    except ConfigError as problem:
        return 503, notice("Invalid configuration", [str(problem), _HERE])
    except EvenkeelError as problem:
        log.warning("no page: %s", problem)
        return 503, notice("The history database cannot be read", [str(problem)])
    except Exception:
        log.exception("no page")
        return 500, notice("This page cannot be shown", ["See the log of the Airflow API server."])


_HERE = (
    "The API server of Airflow serves this page. Set EVENKEEL_DATABASE_URL in its environment, or the"
    " Airflow connection evenkeel_postgres."
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
        lines = ["Pages appear after the first snapshot with metrics."]
        return 200, notice("No snapshot yet", lines)
    if cluster is None and len(clusters) > 1:
        return 200, notice("Consumer groups", ["Choose a cluster"], ways)
    cluster = clusters[0] if cluster is None else cluster
    if cluster not in clusters:
        lines = [f"The history database has no snapshot of {group_name(cluster)}."]
        return 404, notice("Unknown cluster", lines, ways)
    if group is None:
        return 200, render(stored_report(history, cluster), Served(clusters=clusters))
    fleet = stored_report(history, cluster, group=group)
    if not fleet.groups:
        all_groups = {"All groups": f"./{report_place(cluster)}"}
        return 404, notice("Unknown group", _missing(fleet, group), all_groups)
    return 200, render(fleet, Served(clusters=clusters, alone=True))


def _missing(fleet: FleetReport, group: str) -> list[str]:
    """The reason that a group has no page."""
    from evenkeel.engine.model.text import several
    from evenkeel.engine.report import group_name

    if not fleet.taken_at:
        return [f"No snapshot of {fleet.cluster} has been evaluated yet."]
    newest = several(len(fleet.taken_at), "snapshot")
    return [
        f"None of the newest {newest} of {fleet.cluster} has a group {group_name(group)}.",
        "A new group appears some minutes after its first snapshot.",
    ]
