"""Where the pages of the report stand: below Airflow's own address, and inside its navigation."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from airflow.sdk.configuration import conf

PREFIX = "/evenkeel"
"""Where Airflow serves the pages themselves."""

DIAGNOSES = "/diagnoses"
"""Where the pages about diagnoses are, below them."""

ROUTE = "evenkeel"
"""Airflow shows in its navigation, at `plugin/<route>/<place>`, what it serves at `<place>`."""

VIEW = {
    "name": "evenkeel",
    "href": f"{PREFIX.removeprefix('/')}/",
    "destination": "nav",
    "url_route": ROUTE,
    "icon": f"{PREFIX.removeprefix('/')}/icon.svg",
    "icon_dark_mode": f"{PREFIX.removeprefix('/')}/icon-dark.svg",
    "nav_top_level": True,
}
"""What Airflow shows of them in its navigation; addresses are relative, for an Airflow below a path."""


class LazyApp:
    """
    The pages as an app that is made when the first of them is asked for.

    Airflow loads its plugins in every process, and its API server does not start with one that cannot be loaded.
    """

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer by the app itself (ASGI)."""
        from evenkeel.dags.pages import app

        await app()(scope, receive, send)


APP = {"app": LazyApp(), "url_prefix": PREFIX, "name": "evenkeel"}


def base_url() -> str | None:
    """Airflow's own address, without a slash at its end; None where it is not told, or told a path only."""
    if not conf.has_option("api", "base_url"):
        return None
    address = conf.get("api", "base_url").rstrip("/")
    return address if address.startswith(("http://", "https://")) else None


def report_url() -> str | None:
    """The address of the pages inside Airflow's navigation; None where Airflow is not told its own."""
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
    The path of a page inside Airflow's navigation.

    Args:
        root: The path below which Airflow is; it stands before the navigation, and again before the pages.
        place: The page, below all of them.

    >>> in_navigation("/airflow", "/groups")
    '/airflow/plugin/evenkeel/airflow/evenkeel/groups'
    """
    return f"{root}/plugin/{ROUTE}{root}{PREFIX}{place}"
