"""The pages inside Airflow over a real history: all groups, one of them, and what is not there."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import pytest

from evenkeel.dags import connections, page_data
from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.config import Settings
from evenkeel.engine.model.text import printable, report_place
from tests.helpers import cookbook_history
from tests.helpers.history_rows import manifest, metrics

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

CLUSTER, GROUP = cookbook_history.CLUSTER, "search-index"


@pytest.fixture(scope="module")
def history(module_cookbook_url: str) -> Iterator[Settings]:
    """Two days of a small fleet, which Airflow's connections lead to."""
    with pytest.MonkeyPatch.context() as patch:
        configured = Settings(database_url=module_cookbook_url)
        patch.setattr(connections, "settings", lambda: configured)
        yield configured


def links(document: str) -> list[str]:
    """Where a page leads to."""
    return [html.unescape(address) for address in re.findall(r'<a href="([^"]+)"', document)]


@pytest.mark.usefixtures("history")
def test_the_first_page_has_every_group_and_leads_to_its_own() -> None:
    """With one cluster that is the first page; each group's own page is the one that messages link to."""
    status, document = page_data.page_of(None, None)
    groups = names_on(document)
    assert status == 200
    assert GROUP in groups
    assert links(document) == [f"./{report_place(CLUSTER, name)}" for name in groups]
    assert page_data.page_of(CLUSTER, None)[0] == 200


@pytest.mark.usefixtures("history")
def test_the_page_of_a_group_is_open_and_leads_back() -> None:
    """It shows that group alone, unfolded, with a way to all the others."""
    status, document = page_data.page_of(CLUSTER, GROUP)
    assert status == 200
    (unfolded,) = re.findall(r'<details class="group" [^>]*>', document)
    assert unfolded.endswith(" open>")
    assert f"<bdi>{GROUP}</bdi>" in document
    assert links(document) == [f"./{report_place(CLUSTER)}"]


ODD = ["<script>alert(1)</script>", "../x", "a/b?c#d", "", "🚒🔥", "g" * 249, "%", "a\tb", "nul\0"]


def test_a_group_has_its_page_whatever_it_is_called(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name is text on it, and something that can be seen; the page of all leads to it."""
    history, taken = PostgresHistory(database_url), manifest()
    history.store_snapshot(taken)
    history.store_metrics(
        taken.snapshot_id, metrics(taken.snapshot_id, {name: [1] for name in ODD})
    )
    monkeypatch.setattr(connections, "settings", lambda: Settings(database_url=database_url))
    _, everyone = page_data.page_of(None, None)
    for name in ODD:
        shown = html.escape({"": '""'}.get(name, printable(name.replace("\0", "\ufffd"))))
        status, document = page_data.page_of("demo", name)
        assert (status, document.count('<details class="group"')) == (200, 1)
        for each in (everyone, document):
            assert shown in [html.escape(html.unescape(who)) for who in names_on(each)]
        assert f"./{report_place('demo', name.replace(chr(0), chr(0xFFFD)))}" in links(everyone)
        assert html.unescape(document.partition("<title>")[2].partition(" (demo)</title>")[0]) == (
            html.unescape(shown)
        )


def names_on(document: str) -> list[str]:
    """The groups of a page, as it writes them."""
    return re.findall(r'<span class="who"><bdi>(.*?)</bdi>', document)


def test_a_group_that_is_not_measured_yet_is_told_so(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message about it may be read before; nothing is said of a cluster of which there is nothing yet."""
    history = PostgresHistory(database_url)
    history.store_snapshot(manifest())
    monkeypatch.setattr(connections, "settings", lambda: Settings(database_url=database_url))
    status, document = page_data.page_of("demo", "orders")
    assert (status, "No snapshot of demo has been evaluated yet." in document) == (404, True)
    assert "No snapshot has been evaluated." in page_data.page_of("demo", None)[1]
    status, document = page_data.page_of("new", None)
    assert status == 404
    assert "The history database has no snapshot of new." in html.unescape(document)


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize(
    ("cluster", "group"), [(CLUSTER, "<script>alert(1)</script>"), ("<script>", None), ("*", "*")]
)
def test_what_is_not_there_is_said(cluster: str, group: str | None) -> None:
    """A name that nothing has is quoted as text; no name is a pattern."""
    status, document = page_data.page_of(cluster, group)
    assert status == 404
    assert "<script>" not in document
    assert "*" not in (cluster, group) or GROUP not in document
