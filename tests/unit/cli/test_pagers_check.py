"""`doctor` asks those who page, as far as that pages nobody."""

from __future__ import annotations

import json

import pytest

from tests.helpers.pages import KEY, page_server

pytestmark = pytest.mark.slow

FILE = """
[webhooks.prometheus]
format = "alertmanager"

[webhooks.oncall]
format = "pagerduty"
"""


@pytest.fixture
def rows(run, tmp_path, monkeypatch):
    """The rows about them, by name and webhook, with these secrets."""

    def ask(**secrets):
        (tmp_path / "evenkeel.toml").write_text(FILE)
        monkeypatch.setenv("EVENKEEL_WEBHOOKS", json.dumps(secrets))
        result = run("doctor", "--json")
        assert KEY not in result.output
        of_pagers = [
            row
            for row in map(json.loads, result.stdout.splitlines())
            if row["name"] in ("webhook", "heartbeat")
        ]
        return [(row["outcome"], row["found"], row["fix"] or "") for row in of_pagers]

    return ask


def test_who_answers_is_named_and_nobody_is_paged(rows, monkeypatch):
    """What could not be asked is said; a heartbeat is not called either."""
    with page_server() as server:
        monkeypatch.setenv("EVENKEEL_HEARTBEAT_URL", f"{server.url}/a-secret-uuid")
        url = server.url
        oncall, prometheus, heartbeat = rows(
            prometheus={"url": url}, oncall={"url": url, "key": KEY}
        )
        pages = server.pages
    assert oncall[0] == prometheus[0] == heartbeat[0] == "OK"
    assert "whether it takes the key was not asked" in oncall[1]
    assert "prometheus: Alertmanager 0.28.0 at 127.0.0.1:" in prometheus[1]
    assert "the address itself was not called" in heartbeat[1]
    assert pages.calls == [("GET", "/"), ("GET", "/api/v2/status"), ("GET", "/")]


def test_what_is_missing_has_its_fix(rows):
    """A webhook without secrets, or with a key that is none."""
    oncall, prometheus, heartbeat = rows(oncall={"key": KEY[:-1]})
    assert oncall[:2] == (
        "FAIL",
        "webhook 'oncall' has a key of 31 characters, PagerDuty's have 32.",
    )
    assert prometheus[:2] == ("WARN", "prometheus: no url is configured.")
    assert "evenkeel_webhook_prometheus" in prometheus[2]
    assert heartbeat[0] == "WARN"


def test_somebody_else_is_no_alertmanager(rows):
    """An address that answers with something else."""
    with page_server() as server:
        _, prometheus, _ = rows(prometheus={"url": f"{server.url}/elsewhere"})
    assert prometheus[0] == "FAIL"
    assert "does not answer as an Alertmanager" in prometheus[1]
