"""Addresses of the report's pages, below the URL of Airflow and inside its navigation."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from airflow.sdk.configuration import conf

PREFIX = "/evenkeel"
"""Path below which Airflow serves the pages."""

DIAGNOSES = "/diagnoses"
"""Where the pages about diagnoses are, below them."""

ROUTE = "evenkeel"
"""Airflow shows the page at `<place>` inside its navigation at `plugin/<route>/<place>`."""

VIEW = {
    "name": "evenkeel",
    "href": f"{PREFIX.removeprefix('/')}/",
    "destination": "nav",
    "url_route": ROUTE,
    "icon": f"{PREFIX.removeprefix('/')}/icon.svg",
    "icon_dark_mode": f"{PREFIX.removeprefix('/')}/icon-dark.svg",
    "nav_top_level": True,
}
"""Entries in the navigation of Airflow; URLs are relative, so that Airflow may run below a path."""


class LazyApp:
    """
    The pages as an app that is created at its first request.

    Airflow loads plugins in every process, and its API server doesn't start if one fails to load.
    """

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Forward to the app (ASGI)."""
        from evenkeel.dags.pages import app

        await app()(scope, receive, send)


APP = {"app": LazyApp(), "url_prefix": PREFIX, "name": "evenkeel"}


def base_url() -> str | None:
    """The base URL of Airflow without a trailing slash; None if it is not configured, or only a path."""
    if not conf.has_option("api", "base_url"):
        return None
    address = conf.get("api", "base_url").rstrip("/")
    return address if address.startswith(("http://", "https://")) else None


def report_url() -> str | None:
    """The URL of the pages inside the navigation of Airflow; None without a base URL."""
    address = base_url()
    if address is None:
        return None
    path = urlsplit(address).path
    return address.removesuffix(path) + in_navigation(path, "")


def runbook_url() -> str | None:
    """The address of the pages about diagnoses, inside the navigation; None where Airflow is not told its own."""
    address = report_url()
    return None if address is None else f"{address}{DIAGNOSES}"


def in_navigation(root: str, place: str) -> str:
    """
    The path of a page inside the navigation of Airflow.

    Args:
        root: The path below which Airflow runs; it precedes both the navigation and the pages.
        place: The path of the page below them.

    >>> in_navigation("/airflow", "/groups")
    '/airflow/plugin/evenkeel/airflow/evenkeel/groups'
    """
    return f"{root}/plugin/{ROUTE}{root}{PREFIX}{place}"
