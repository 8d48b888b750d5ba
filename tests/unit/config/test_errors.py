"""Wrong configurations as newcomers write them: each error says where, which key, what is wrong and how it is right."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evenkeel.engine.config import load
from evenkeel.engine.config.key_lines import line_of
from evenkeel.engine.model.errors import ConfigError


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    for name in [one for one in os.environ if one.startswith("EVENKEEL_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


CASES = (Path(__file__).parents[2] / "data/wrong-configurations.txt").read_text(encoding="utf-8")
"""Blocks of `# what is wrong`, `$ VARIABLE=value`, the file, and `=>` with the message, but for its last sentence."""


def blocks() -> Iterator[Any]:
    """The variables, the file and the message of each case."""
    for block in CASES.split("\n# "):
        title, *lines = block.strip().splitlines()
        variables = dict(line[2:].split("=", 1) for line in lines if line.startswith("$ "))
        text = "\n".join(line for line in lines[:-1] if not line.startswith("$ "))
        yield pytest.param(variables, text, lines[-1].removeprefix("=> "), id=title)


def refused(tmp_path, text, connections=None) -> str:
    """What is said of a file."""
    (tmp_path / "evenkeel.toml").write_text(text + "\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load(connections=connections)
    return str(caught.value)


@pytest.mark.parametrize(("variables", "text", "message"), list(blocks()))
def test_it_is_told_what_is_wrong_where_and_how_it_is_right(
    tmp_path, monkeypatch, variables, text, message
):
    """The file with the line, or the variable, is named; nothing has to be looked up elsewhere."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert refused(tmp_path, text).removesuffix(" Correct it and try again.") == message


def test_what_a_connection_says_is_not_blamed_on_the_file(tmp_path):
    """The connection is named as Airflow has it."""
    file = '[webhooks.oncall]\nformat = "pagerduty"'
    given = {"webhooks": {"oncall": {"kez": "a-secret"}}}
    assert refused(tmp_path, file, given).startswith(
        "in the Airflow connection evenkeel_webhook_oncall: webhooks.oncall.kez: no such key, the nearest is key"
    )


def test_each_source_has_its_own_faults(tmp_path, monkeypatch):
    """All of them are told at once."""
    monkeypatch.setenv("EVENKEEL_LOOKBACK", "many")
    message = refused(tmp_path, "digest_treshold = 3")
    assert (
        "in the environment variable EVENKEEL_LOOKBACK: lookback: write a whole number" in message
    )
    assert (
        "in evenkeel.toml: line 1, digest_treshold: no such key, the nearest is digest_threshold"
        in message
    )


CLUSTER = '[clusters.eu]\nbootstrap = "b:1"\n'
PAGER = '[webhooks.a]\nformat = "pagerduty"\n'


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (CLUSTER + "groups = {allow = %s}", lambda s: s.clusters["eu"].groups.allow),
        (CLUSTER + "topics = {deny = %s}", lambda s: s.clusters["eu"].topics.deny),
        (PAGER + "groups = %s", lambda s: s.webhooks["a"].groups),
        (PAGER + "clusters = %s", lambda s: s.webhooks["a"].clusters),
        ("[[rules]]\npolicy = {deployment = %s}", lambda s: s.rules[0].policy.deployment),
        ("[[rules]]\nassignors = %s", lambda s: s.rules[0].assignors),
        (
            "[[rules]]\nstreams = {rack_aware_assignment_tags = %s}",
            lambda s: s.rules[0].streams.rack_aware_assignment_tags,
        ),
    ],
)
def test_one_text_is_a_list_of_one(tmp_path, text, names):
    """Wherever a list of names is wanted."""
    for given in ('"class"', '["class"]'):
        (tmp_path / "evenkeel.toml").write_text(text % given, encoding="utf-8")
        assert names(load()) == ("class",)


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (("lookback",), 1),
        (("clusters", "eu"), 2),
        (("clusters", "eu", "properties", "sasl.mechanism"), 4),
        (("clusters", "a.b", "bootstrap"), 6),
        (("rules", 0, "owner"), 8),
        (("rules", 1, "owner"), 10),
        (("rules", 1, "incidents", "for_snapshots"), 12),
        (("rules", 1, "policy", "near_lower_bound"), 13),
        (("rules", 2), 7),
        (("nowhere",), None),
    ],
)
def test_lines_are_those_of_the_file(place, line):
    """Of a key, else of the nearest table around it."""
    text = """lookback = 3
[clusters.eu]   # a comment
bootstrap = "b:1"
properties."sasl.mechanism" = "PLAIN"
[clusters."a.b"]
  bootstrap = "[x] = y"
[[rules]]
owner = "a"
[[rules]]
owner = "b"
[rules.incidents]
for_snapshots = 2
[rules.policy]
"""
    assert line_of(text, place) == line


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hunt@er2@db.example/history",
        "postgresql://me:hunt/er2@db.example/history",
        "postgresql://me:hunt@er/2@db.example:5432/history",
        "postgresql://me:12/er2@db.example/history",
        "postgresql://me:12?er2@db.example/history",
        "postgresql://me:hunt#er2@db.example/history",
        "me:hunter2@db.example/history",
    ],
)
def test_a_password_that_is_not_quoted_is_refused_before_anything_connects(url, monkeypatch):
    """Part of it would be taken for the server, which is shown."""
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", url)
    with pytest.raises(
        ConfigError, match=r"database_url: is not a URL: .*%40 for @, %2F for /"
    ) as caught:
        load()
    assert not set(re.findall(r"\w+", str(caught.value))) & {"me", "hunt", "er2", "hunter2", "db"}
    with pytest.raises(ConfigError) as caught:
        load(connections={"database_url": url})
    assert "er2" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hunt%40er%2F2@db.example:5432/history",
        "postgresql+psycopg://me@[::1]:5432/history?connect_timeout=3",
        "postgresql://me@/history?host=/run/a@b",
        "postgresql:///history?host=/run/pg&user=me",
    ],
)
def test_a_url_whose_parts_are_quoted_is_taken(url, monkeypatch):
    """A socket's folder is an option of it."""
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", url)
    assert load().database_url.get_secret_value() == url


@pytest.mark.parametrize(
    "bootstrap",
    ["me:hunter2@broker1:9092", "broker1:9092, me:hunter2@broker2", "SASL_SSL://me:hunter2@b:9092"],
)
def test_a_login_in_a_bootstrap_is_refused_and_not_shown(bootstrap, monkeypatch, tmp_path):
    """Addresses are shown and stored; wherever this one comes from."""
    file = tmp_path / "evenkeel.toml"
    file.write_text(f'[clusters.eu]\nbootstrap = "{bootstrap}"\n')
    with pytest.raises(ConfigError, match="an @ is in an address; write host:port alone") as caught:
        load(file)
    assert "hunter2" not in str(caught.value)
    monkeypatch.setenv("EVENKEEL_CLUSTERS", json.dumps({"eu": {"bootstrap": bootstrap}}))
    with pytest.raises(ConfigError, match="an @ is in an address") as caught:
        load()
    assert "hunter2" not in str(caught.value)
    monkeypatch.delenv("EVENKEEL_CLUSTERS")
    settings = load(connections={"clusters": {"eu": {"bootstrap": bootstrap}}})
    with pytest.raises(ConfigError, match="an @ is in an address") as caught:
        settings.cluster("eu")
    assert "hunter2" not in str(caught.value)
