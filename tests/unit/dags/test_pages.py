"""The pages inside Airflow: who gets in, what others are told, and what is made how often."""

from __future__ import annotations

import asyncio
import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

import pytest
from airflow.api_fastapi.core_api import security
from airflow.models.dag import DagModel
from fastapi import FastAPI
from fastapi.testclient import TestClient
from jwt import InvalidTokenError

from evenkeel.dags import navigation, page_cache, page_data, pages, pool_priority
from evenkeel.engine.adapters.slack import blocks
from evenkeel.engine.config import Settings
from evenkeel.engine.messages.channels import with_links
from evenkeel.engine.model.errors import ConfigError, HistoryUnreachable
from evenkeel.engine.model.text import report_place
from tests.unit.messages.test_channels import about

pytestmark = pytest.mark.airflow

HOST = "http://airflow.test/airflow"
SECRET = "what the groups do"
EVIL = '<script>alert(1)</script>/"100%"&x=1#y'


class Manager:
    """An auth manager that knows two tokens, of which one may read DAGs."""

    async def get_user_from_token(self, token: str) -> str:
        """The user, who is called as the token is."""
        if token not in ("reader", "stranger"):
            raise InvalidTokenError
        return token

    def is_authorized_dag(self, *, method: str, user: str, details: Any, **_: Any) -> bool:
        """Whether a user may do that with a DAG."""
        return (method, details.id, user) == ("GET", "advise_assignments", "reader")


@dataclass
class Made:
    """A maker of pages that notes what it is asked for."""

    asked: list[tuple[str | None, str | None]] = field(default_factory=list)
    status: int = 200

    def __call__(self, cluster: str | None, group: str | None) -> tuple[int, str]:
        """A page that says what was asked for."""
        self.asked.append((cluster, group))
        return self.status, f"{SECRET}: {cluster} {group}"


@dataclass
class Slow(Made):
    """One that makes none until it is free to."""

    free: Event = field(default_factory=Event)

    def __call__(self, cluster: str | None, group: str | None) -> tuple[int, str]:
        """As soon as it is free."""
        assert self.free.wait(60)
        return super().__call__(cluster, group)


@pytest.fixture
def made() -> Made:
    """What is shown."""
    return Made()


@pytest.fixture
def client(made: Made, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A browser before an Airflow below `/airflow` that serves the pages."""
    monkeypatch.setattr(security, "get_auth_manager", Manager)
    monkeypatch.setattr(DagModel, "get_team_name", lambda dag_id: None)
    airflow = FastAPI(root_path="/airflow")
    airflow.mount(navigation.PREFIX, pages.make_app(made))
    with TestClient(airflow, HOST, follow_redirects=False) as browser:
        yield browser


def as_user(client: TestClient, token: str) -> TestClient:
    """The browser once somebody has logged in."""
    client.cookies.set("_token", token)
    return client


PLACES = [
    "evenkeel/",
    "evenkeel/?cluster=eu",
    "evenkeel/groups?cluster=eu&group=orders",
    "evenkeel/groups",
    "evenkeel/diagnoses/",
    "evenkeel/diagnoses/no-members",
    "evenkeel/diagnoses/no-members/",
    "evenkeel/icon.svg",
    "evenkeel/icon-dark.svg",
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("token", "status"), [(None, 401), ("forged", 403), ("stranger", 403)])
def test_nobody_else_sees_anything(
    client: TestClient, made: Made, place: str, token: str | None, status: int
) -> None:
    """Without a login that may read the advice no page is made, wherever it is asked for."""
    answer = (as_user(client, token) if token else client).get(place)
    assert (answer.status_code, made.asked) == (status, [])
    assert SECRET not in answer.text
    assert (
        "/airflow/api/v2/auth/login?next=%2Fairflow%2Fplugin%2Fevenkeel%2Fairflow%2F" in answer.text
    )
    assert "frame-ancestors 'self'" in answer.headers["content-security-policy"]


def test_every_route_is_behind_the_login(client: TestClient) -> None:
    """There is no route of which the tests above say nothing: no schema, no documentation of the API."""
    paths = [getattr(route, "path", None) for route in pages.make_app(Made()).routes]
    routes = {path and path.format(name="no-members") for path in paths}
    assert routes == {
        urlsplit(f"/{place}").path.removeprefix(navigation.PREFIX) for place in PLACES
    }
    assert as_user(client, "reader").get("evenkeel/openapi.json").status_code == 404


def test_who_may_read_the_advice_sees_the_page(client: TestClient, made: Made) -> None:
    """By the cookie of the browser's session, or the token of a program; no page is kept by anybody between."""
    by_cookie = as_user(client, "reader").get("evenkeel/?cluster=eu")
    client.cookies.clear()
    by_header = client.get("evenkeel/", headers={"Authorization": "Bearer reader"})
    assert (by_cookie.status_code, by_header.status_code) == (200, 200)
    assert made.asked == [("eu", None), (None, None)]
    assert by_cookie.headers["cache-control"] == "no-store"
    assert "default-src 'none'" in by_cookie.headers["content-security-policy"]


def test_what_one_has_seen_is_not_shown_to_another(client: TestClient, made: Made) -> None:
    """Who may not read the advice is refused though the page has just been made and is kept."""
    place = "evenkeel/groups?cluster=eu&group=orders"
    assert as_user(client, "reader").get(place).status_code == 200
    client.cookies.clear()
    for token, status in (("stranger", 403), (None, 401)):
        answer = (as_user(client, token) if token else client).get(place)
        assert (answer.status_code, SECRET in answer.text) == (status, False)
        client.cookies.clear()
    assert as_user(client, "reader").get(place).status_code == 200
    assert len(made.asked) == 1


ODD = [
    EVIL,
    "a/b",
    "../x",
    "a/b?c#d",
    "%2e%2e%2f",
    "100% +;=&group=b",
    "back\\slash",
    "two\nlines\t",
    "*over* `it` |all>",
    "grüße",
    "🚒🔥",
    "g" * 249,
    "",
]


@pytest.mark.parametrize("name", ODD)
def test_a_message_leads_to_the_page_of_its_group(
    client: TestClient, made: Made, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the link that Slack shows, through Airflow's navigation, to the page of that very group."""
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", f"{HOST}/")
    known = Settings(report_url=navigation.report_url())
    body = blocks.body(with_links(about(name), "eu", known), "key")
    (link,) = re.findall(r"<(https?://\S+)\|report>", json.dumps(body, ensure_ascii=False))
    # Airflow's navigation frames what stands behind its own route: the path, read, with the query as it is
    shown = urlsplit(html.unescape(link))
    framed = unquote(shown.path).removeprefix("/airflow/plugin/evenkeel/")
    answer = as_user(client, "reader").get(f"http://airflow.test/{framed}?{shown.query}")
    assert (answer.status_code, made.asked) == (200, [("eu", name)])


def test_a_message_leads_to_the_page_about_its_diagnosis(
    client: TestClient, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the link that Slack shows, through Airflow's navigation, to the page about that diagnosis."""
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", f"{HOST}/")
    known = Settings(runbook_url=navigation.runbook_url())
    message = about("orders")
    assert message.subject is not None
    message = replace(message, subject=replace(message.subject, cause="no members"))
    body = blocks.body(with_links(message, "eu", known), "key")
    (link,) = re.findall(r"<(https?://\S+)\|runbook>", json.dumps(body))
    framed = urlsplit(link).path.removeprefix("/airflow/plugin/evenkeel/")
    answer = as_user(client, "reader").get(f"http://airflow.test/{framed}")
    assert (answer.status_code, made.asked) == (200, [])
    assert "<h1>No members<small>evenkeel</small></h1>" in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    # from there to the others
    [to_all] = set(re.findall('href="(/airflow/evenkeel/diagnoses/)"', answer.text))
    assert "<h1>Diagnoses<small>" in client.get(f"http://airflow.test{to_all}").text


@pytest.mark.parametrize(
    "name", ["none", "..%2Findex", "%2e%2e%2f%2e%2e%2fREADME", "index.md", EVIL]
)
def test_there_are_pages_about_diagnoses_only(client: TestClient, name: str) -> None:
    """No other file is served by a name that leads out of their folder."""
    answer = as_user(client, "reader").get(f"evenkeel/diagnoses/{quote(name, safe='%')}")
    assert answer.status_code == 404
    assert "<script>alert" not in answer.text


def test_who_opens_a_page_by_itself_is_led_to_the_login_and_back(client: TestClient) -> None:
    """After the login the page is there inside Airflow's navigation; a frame of it is not led away."""
    place = f"evenkeel/{report_place('eu', EVIL)}"
    answer = client.get(place, headers={"Sec-Fetch-Dest": "document"})
    login = urlsplit(answer.headers["location"])
    assert (answer.status_code, login.netloc, login.path) == (
        303,
        "",
        "/airflow/api/v2/auth/login",
    )
    (back,) = parse_qs(login.query)["next"]
    assert urlsplit(back).path == "/airflow/plugin/evenkeel/airflow/evenkeel/groups"
    assert parse_qs(urlsplit(back).query) == {"cluster": ["eu"], "group": [EVIL]}
    assert client.get(place, headers={"Sec-Fetch-Dest": "iframe"}).status_code == 401


def test_an_address_without_a_group_is_told_so(client: TestClient, made: Made) -> None:
    """What is not asked well is answered by a page, and nothing is made."""
    assert as_user(client, "reader").get("evenkeel/groups?cluster=eu").status_code == 422
    assert client.get("evenkeel/nothing").status_code == 404
    assert made.asked == []


def test_many_who_look_read_the_history_once() -> None:
    """Who asks while a page is made waits for that one, and who asks soon after gets it; later it is made anew."""
    now, made = [0.0], Slow()

    async def look() -> None:
        kept = page_cache.PageCache(make=made, clock=lambda: now[0])
        asking = [asyncio.ensure_future(kept.get("eu", None)) for _ in range(10)]
        gone = asyncio.ensure_future(kept.get("us", None))
        await asyncio.sleep(0)
        gone.cancel()
        made.free.set()
        assert {await each for each in asking} == {(200, f"{SECRET}: eu None")}
        await kept.get("us", None)
        assert sorted(map(str, made.asked)) == ["('eu', None)", "('us', None)"]
        now[0] = page_cache.SECONDS - 0.1
        await kept.get("eu", None)
        assert len(made.asked) == 2
        now[0] = page_cache.SECONDS + 0.1
        await kept.get("eu", None)
        assert made.asked[2:] == [("eu", None)]

    asyncio.run(look())


def test_a_page_that_takes_its_time_is_not_waited_for_without_end() -> None:
    """Who asks hears that it is being made; it goes on being made, and who asks again gets it."""
    made = Slow()

    async def look() -> None:
        kept = page_cache.PageCache(make=made, patience=0)
        assert await kept.get("eu", None) is None
        assert await kept.get("eu", None) is None
        made.free.set()
        kept.patience = 60
        assert await kept.get("eu", None) == (200, f"{SECRET}: eu None")
        assert made.asked == [("eu", None)]

    asyncio.run(look())


def test_no_more_pages_wait_for_a_slow_history_than_are_kept() -> None:
    """However many are asked for meanwhile, and again; once it answers there is room for those that were not begun."""
    made = Slow()

    async def look() -> None:
        kept, names = page_cache.PageCache(make=made, patience=0), range(page_cache.MOST + 10)
        for _ in range(2):
            for name in names:
                assert await kept.get("eu", str(name)) is None
        made.free.set()
        kept.patience = 60
        begun = {("eu", str(name)) for name in names[: page_cache.MOST]}
        assert all([await kept.get(*one) for one in sorted(begun)])
        assert (len(made.asked), set(made.asked)) == (page_cache.MOST, begun)
        assert await kept.get("eu", "late") == (200, f"{SECRET}: eu late")

    asyncio.run(look())


def test_who_waits_for_a_slow_history_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a page that asks again by itself, in its place; nothing keeps it."""
    monkeypatch.setattr(security, "get_auth_manager", Manager)
    monkeypatch.setattr(DagModel, "get_team_name", lambda dag_id: None)
    free = Event()
    app = pages.make_app(lambda cluster, group: (200, str(free.wait(60))), patience=0)
    with TestClient(app) as browser:
        answer = as_user(browser, "reader").get("/groups?cluster=eu&group=orders")
        free.set()
    assert answer.status_code == 503
    assert answer.headers["refresh"] == "5"
    assert answer.headers["cache-control"] == "no-store"
    assert "This page reloads automatically." in answer.text


def test_trouble_is_not_kept() -> None:
    """A page that tells of trouble is made anew for the next who asks, and as few are kept as there is room for."""
    made = Made(status=503)

    async def look() -> None:
        kept = page_cache.PageCache(make=made)
        await kept.get("eu", None)
        made.status = 200
        assert (await kept.get("eu", None))[0] == 200
        for number in range(page_cache.MOST):
            await kept.get("eu", f"g{number}")
        asked = len(made.asked)
        await kept.get("eu", None)
        assert len(made.asked) == asked + 1

    asyncio.run(look())


@pytest.mark.parametrize(
    ("problem", "status", "said"),
    [
        (ConfigError("no history database is configured.", fix="Set it."), 503, "Set it."),
        (HistoryUnreachable("database evenkeel at db:5432 does not answer."), 503, "db:5432"),
        (
            ValueError("postgresql://me:hunter2@db/evenkeel"),
            500,
            "See the log of the Airflow API server",
        ),
    ],
)
def test_what_hinders_a_page_is_said_on_it(
    problem: Exception, status: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is wrong becomes a page that says it in words of ours, or says nothing of it."""

    def refuse(cluster: str | None, group: str | None) -> tuple[int, str]:
        raise problem

    monkeypatch.setattr(page_data, "_page_of", refuse)
    told, document = page_data.page_of("eu", None)
    assert told == status
    assert said in document
    assert "hunter2" not in document


def test_a_database_that_is_down_is_told_without_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A history that does not answer is named by its place; user and password stay unsaid."""
    url = "postgresql://somebody:hunter2@127.0.0.1:1/evenkeel"
    monkeypatch.setattr("evenkeel.dags.connections.settings", lambda: Settings(database_url=url))
    status, document = page_data.page_of(None, None)
    assert status == 503
    assert "127.0.0.1:1" in document
    assert "hunter2" not in document
    assert "somebody" not in document


def test_the_plugin_needs_nothing_but_itself() -> None:
    """It is in the navigation by addresses relative to Airflow's own, and makes its app when that is asked for."""
    plugin = pool_priority.TurnsPlugin()
    (view,), (served,) = plugin.external_views, plugin.fastapi_apps
    assert view["href"] == f"{served['url_prefix'].removeprefix('/')}/"
    assert not any(
        view[key].startswith(("/", "http")) for key in ("href", "icon", "icon_dark_mode")
    )
    assert not isinstance(served["app"], FastAPI)
