"""The dashboard for Grafana, as a file."""

from __future__ import annotations

import itertools
import re

from evenkeel.engine.model.states import ALARMS, Diagnosis
from tests.helpers.grafana import FILE, dashboard, panels, variables
from tests.helpers.view_samples import public

SOURCE = {"type": "grafana-postgresql-datasource", "uid": "${DS_EVENKEEL}"}


def test_whoever_imports_it_is_asked_for_the_database() -> None:
    """Nothing in it names one: every panel, question and variable takes the input."""
    (asked,) = dashboard()["__inputs"]
    assert (asked["name"], asked["pluginId"]) == ("DS_EVENKEEL", SOURCE["type"])
    places = [*panels(), *(target for panel in panels() for target in panel["targets"])]
    places += [each for each in variables().values() if each["type"] == "query"]
    assert len(places) > 20
    assert [place for place in places if place["datasource"] != SOURCE] == []
    assert not re.search(r"https?://", FILE.read_text(encoding="utf-8"))


def test_it_reads_public_views_alone() -> None:
    """So a role that may read these can show all of it, and no migration of a table breaks it."""
    queries = [target["rawSql"] for panel in panels() for target in panel["targets"]]
    queries += [each["query"] for each in variables().values() if each["type"] == "query"]
    read = {name for query in queries for name in re.findall(r"\b(?:FROM|JOIN)\s+(\w+)", query)}
    read -= {name for query in queries for name in re.findall(r"(\w+) AS \(", query)}
    assert read <= set(public())
    assert {"group_status", "group_lag_trend", "rack_cost_daily", "snapshot_health"} <= read


def test_every_variable_of_a_question_is_there() -> None:
    """One that is misspelt would reach the database as it is."""
    for panel in panels():
        for target in panel["targets"]:
            used = set(re.findall(r"\$(?!__)(\w+)", target["rawSql"]))
            assert used <= variables().keys(), panel["title"]
            assert set(re.findall(r"\$(__\w+)", target["rawSql"])) <= {"__timeFilter"}


def test_a_panel_says_what_it_shows_and_in_which_unit() -> None:
    """A number of a line, bar or count has a unit; seconds and shares in a table have one each."""
    for panel in panels():
        assert panel["title"]
        assert panel["description"].endswith(".")
        if panel["type"] != "table":
            assert panel["fieldConfig"]["defaults"]["unit"]
            continue
        with_unit = {
            each["matcher"]["options"]
            for each in panel["fieldConfig"]["overrides"]
            if any(one["id"] == "unit" for one in each["properties"])
        }
        (target,) = panel["targets"]
        named = dict(re.findall(r"(\w+_(?:seconds|share)) AS \"?([\w ]+\w)", target["rawSql"]))
        assert set(named.values()) <= with_unit, panel["title"]


def test_every_diagnosis_has_a_color() -> None:
    """And nothing else has, which no group could have."""
    (shown,) = [panel for panel in panels() if panel["title"] == "Status of each group"]
    (of,) = [
        each["properties"]
        for each in shown["fieldConfig"]["overrides"]
        if each["matcher"]["options"] == "diagnosis"
    ]
    (mappings,) = [each["value"] for each in of if each["id"] == "mappings"]
    assert set(mappings[0]["options"]) == set(Diagnosis) - ALARMS


def test_panels_do_not_lie_on_each_other() -> None:
    """Each has a place of its own in the 24 columns, and an id."""
    every = dashboard()["panels"]
    places = [panel["gridPos"] for panel in every]
    assert len({panel["id"] for panel in every}) == len(every)
    assert all(place["x"] + place["w"] <= 24 for place in places)
    for one, other in itertools.combinations(places, 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        apart = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert beside or apart
