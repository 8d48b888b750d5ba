"""
The pages of the report, served by the API server of Airflow behind its login.

Airflow doesn't authenticate requests to the app of a plugin, so every route here does: it checks the token of the
session cookie or header, and the user's permission to read the DAG `advise_assignments`.
"""

from __future__ import annotations

from functools import cache
from urllib.parse import quote

from airflow.api_fastapi.core_api.security import requires_access_dag
from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response

from evenkeel.dags import ADVISING
from evenkeel.dags.navigation import DIAGNOSES, PREFIX, in_navigation
from evenkeel.dags.page_cache import PATIENCE, Maker, PageCache
from evenkeel.dags.page_data import page_of

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="{ink}" stroke-width="1.8" '
    'stroke-linecap="round" stroke-linejoin="round"><path d="M12 15V3l7 9h-7"/><path d="M10 6 6 12h4"/>'
    '<path d="M3 15h18l-3 4H6z"/><path d="M12 19v3"/></svg>'
)
"""The icon."""

AGAIN = "5"
"""Seconds after which a browser reloads a page that was not ready."""

ON_LIGHT, ON_DARK = "#18181b", "#fafafa"


@cache
def app() -> FastAPI:
    """Create the app that Airflow serves."""
    return make_app(page_of)


def make_app(make: Maker, *, patience: float = PATIENCE) -> FastAPI:
    """
    The app; every route requires a login and permission to read the advice.

    Args:
        make: Renders a page; called in a thread.
        patience: Maximum seconds to wait for a page.
    """
    pages = FastAPI(
        title="evenkeel",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        dependencies=[Depends(requires_access_dag("GET", param_dag_id=ADVISING))],
        exception_handlers={HTTPException: _refused, RequestValidationError: _misasked},
    )
    kept = PageCache(make=make, patience=patience)

    async def page(cluster: str | None, group: str | None) -> Response:
        made = await kept.get(cluster, group)
        return _answer(*made) if made else await run_in_threadpool(_unready)

    @pages.get("/")
    async def fleet(cluster: str | None = None) -> Response:
        return await page(cluster, None)

    @pages.get("/groups")
    async def group(cluster: str, group: str) -> Response:
        return await page(cluster, group)

    @pages.get(f"{DIAGNOSES}/")
    def diagnoses(request: Request) -> Response:
        return _diagnosis(request, "index")

    @pages.get(f"{DIAGNOSES}/{{name}}")
    @pages.get(f"{DIAGNOSES}/{{name}}/")
    def diagnosis(request: Request, name: str) -> Response:
        return _diagnosis(request, name)

    @pages.get("/icon.svg")
    async def icon() -> Response:
        return Response(ICON.format(ink=ON_LIGHT), media_type="image/svg+xml")

    @pages.get("/icon-dark.svg")
    async def icon_dark() -> Response:
        return Response(ICON.format(ink=ON_DARK), media_type="image/svg+xml")

    return pages


def _diagnosis(request: Request, name: str) -> Response:
    from evenkeel.engine.report.diagnosis_page import diagnosis_page

    home = f"{request.scope['root_path']}{DIAGNOSES}"
    page = diagnosis_page(name, home)
    if page is None:
        ways = {"All diagnoses": f"{home}/"}
        return _notice(404, "There is no such page", "No diagnosis has this name.", ways=ways)
    return _answer(200, page)


def _answer(status: int, document: str) -> HTMLResponse:
    """Headers of a page: only its own script may run, only Airflow may frame it, and caches must not store it."""
    from evenkeel.engine.report import policy

    headers = {
        "Cache-Control": "no-store",
        "Content-Security-Policy": f"{policy()}; frame-ancestors 'self'",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "SAMEORIGIN",
    }
    return HTMLResponse(document, status, headers)


def _notice(status: int, title: str, *lines: str, ways: dict[str, str] | None = None) -> Response:
    from evenkeel.engine.report import notice

    return _answer(status, notice(title, lines, ways))


def _unready() -> Response:
    """The page for requests that waited for too long; browsers reload it."""
    response = _notice(
        503,
        "Loading",
        "The history database is slow to answer. This page reloads automatically.",
    )
    response.headers["Refresh"] = AGAIN
    return response


# Starlette calls what is no coroutine in a thread: the engine is imported there.


def _refused(request: Request, problem: Exception) -> Response:
    """The page for users without a login or permission; a page that is opened directly redirects to the login."""
    assert isinstance(problem, HTTPException)
    root = request.scope["root_path"].removesuffix(PREFIX)
    path = request.url.path.rpartition(PREFIX)[2]
    query = f"?{request.url.query}" if request.url.query else ""
    back = quote(in_navigation(root, path) + query, safe="")
    login = f"{root}/api/v2/auth/login?next={back}"
    ways = {"Log in": login}
    if problem.status_code == 401:
        if request.headers.get("sec-fetch-dest") == "document":
            return RedirectResponse(login, 303, {"Cache-Control": "no-store"})
        return _notice(
            401, "You are not logged in", "Log in to Airflow to see this page.", ways=ways
        )
    if problem.status_code == 403:
        needed = f"Ask an Airflow administrator for permission to read the DAG {ADVISING}."
        again = "If you have it, log in again: your session may have expired."
        return _notice(403, "Permission denied", needed, again, ways=ways)
    return _notice(
        problem.status_code,
        "Page not found",
        "The first page lists all groups.",
        ways={"All groups": "./"},
    )


def _misasked(request: Request, problem: Exception) -> Response:
    return _notice(
        422, "Choose a group", "The URL has no cluster or no group.", ways={"All groups": "./"}
    )
