"""Rules, dashboard and autoscaling examples for Prometheus: every metric that they name is one that is served."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from evenkeel.engine.adapters.prometheus import MetricsPage
from evenkeel.engine.adapters.prometheus.families import HORIZONS, PERCENTILES
from evenkeel.engine.model.states import WORST_FIRST
from tests.benchmarks.scrape import cluster as everything_known
from tests.helpers.made_tables import ROOT
from tests.helpers.tools import needs, tool

EXAMPLES = ROOT / "docs" / "prometheus"
RULES = EXAMPLES / "rules.yml"
DASHBOARD = json.loads((ROOT / "sql/grafana/evenkeel-prometheus.json").read_text("utf-8"))
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
PROMTOOL = tool("promtool")

STATES = {*(one.measure for one in WORST_FIRST), "pending", "confirmed"}


def documents(name: str) -> list[dict[str, Any]]:
    """What a YAML file holds."""
    return list(yaml.safe_load_all((EXAMPLES / name).read_text("utf-8")))


def rules() -> list[dict[str, Any]]:
    """All rules, of whatever group."""
    [content] = documents("rules.yml")
    return [rule for group in content["groups"] for rule in group["rules"]]


def keda() -> dict[str, Any]:
    """The trigger of the example."""
    [scaled] = documents("keda.yaml")
    [trigger] = scaled["spec"]["triggers"]
    return dict(trigger)


def queries() -> Iterator[tuple[str, str]]:
    """Every query, and where it stands."""
    yield from ((rule.get("alert") or rule["record"], rule["expr"]) for rule in rules())
    yield "keda", keda()["metadata"]["query"]
    for panel in PANELS:
        yield from ((panel["title"], target["expr"]) for target in panel["targets"])
    for each in DASHBOARD["templating"]["list"]:
        yield each["name"], each["definition"]


def served() -> set[str]:
    """The names of all samples."""
    return {
        name
        for family in MetricsPage(0, 1).collect()
        for name in (family.name, *(sample.name for sample in family.samples))
    }


RECORDED = {rule["record"] for rule in rules() if "record" in rule}


@pytest.mark.parametrize(("where", "query"), list(queries()))
def test_a_query_names_what_is_served(where, query):
    """Metrics, recorded or served, and values of labels that exist; brackets close."""
    names = set(re.findall(r"[a-z_0-9:]*evenkeel_[a-z_0-9:]+", query))
    assert names
    assert names <= served() | RECORDED
    for label, known in (("state", STATES), ("horizon", HORIZONS), ("percentile", PERCENTILES)):
        for said in re.findall(rf'\b{label}\s*(?:=|!=|=~|!~)\s*"([^"]*)"', query):
            assert set(said.split("|")) <= set(known)
    for opens, closes in ("()", "[]", "{}"):
        assert query.count(opens) == query.count(closes)


def test_alerts_say_what_is_wrong():
    """Each has a severity, and a summary of labels that it has."""
    for alert in (rule for rule in rules() if "alert" in rule):
        assert alert["labels"]["severity"] in ("critical", "warning", "info")
        told = " ".join(alert["annotations"].values())
        used = set(re.findall(r"\$labels\.(\w+)", told))
        assert used <= {"cluster", "group", "state", "horizon", "instance"}
        for verb in re.findall(r"Run: evenkeel (\w+)", told):
            assert verb in ("advise", "runbook")


def test_autoscalers_read_the_same_number_and_never_take_unknown_for_none():
    """KEDA by its query, the other by what a rule records; one replica for each member."""
    trigger = keda()
    assert trigger["metadata"]["ignoreNullValues"] == "false"
    assert float(trigger["metadata"]["threshold"]) == 1
    adapter, scaler = documents("hpa.yaml")
    [rule] = yaml.safe_load(adapter["data"]["config.yaml"])["externalRules"]
    assert rule["seriesQuery"] in RECORDED
    [metric] = scaler["spec"]["metrics"]
    assert metric["external"]["metric"]["name"] == rule["name"]["as"]
    assert metric["external"]["target"] == {"type": "AverageValue", "averageValue": "1"}


def test_a_panel_says_what_it_shows_and_where():
    """With a unit; in a place of its own, by the input that whoever imports it is asked for."""
    (asked,) = DASHBOARD["__inputs"]
    source = {"type": asked["pluginId"], "uid": "${DS_PROMETHEUS}"}
    for panel in PANELS:
        assert panel["description"].endswith(".")
        assert panel["fieldConfig"]["defaults"]["unit"]
        assert (
            [panel["datasource"]] == [source] == [one["datasource"] for one in panel["targets"][:1]]
        )
    places = [panel["gridPos"] for panel in DASHBOARD["panels"]]
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(places)
    for one, other in itertools.combinations(places, 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        assert beside or one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]


def scenario(members: str, needed: str, helps: str, wanted: int | None) -> dict[str, Any]:
    """Two hours of a group, a value a minute, and the number of replicas after them."""
    labels = '{cluster="prod",group="orders-app",instance="a",job="evenkeel"}'
    series = {"members": members, "members_needed": needed, "scaling_helps": helps}
    expected = [] if wanted is None else [{"labels": "{}", "value": wanted}]
    asked = ("max(group:evenkeel_group_members:target)", keda()["metadata"]["query"])
    return {
        "interval": "1m",
        "input_series": [
            {"series": f"evenkeel_group_{name}{labels}", "values": values}
            for name, values in series.items()
        ],
        "promql_expr_test": [
            {"expr": query, "eval_time": "119m", "exp_samples": expected} for query in asked
        ],
    }


def late(behind: str, at_least: str, fires: bool) -> dict[str, Any]:
    """Half an hour of a group whose lag grows, a value a minute, and whether alerts fire then."""
    named = 'cluster="prod",group="orders-app",instance="a",job="evenkeel"'
    series = {
        f"evenkeel_group_behind_seconds{{{named}}}": behind,
        f"evenkeel_group_time_lag_at_least_seconds{{{named}}}": at_least,
        f"evenkeel_group_lag_offsets{{{named}}}": "100x30",
        f'evenkeel_group_forecast_lag_offsets{{{named},horizon="1h",percentile="10"}}': "200x30",
        f"evenkeel_group_scaling_helps{{{named}}}": "0x30",
    }
    alerts = [
        rule["alert"]
        for rule in rules()
        if "group:evenkeel_group_behind_seconds:late" in rule["expr"]
    ]
    return {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": [
            {
                "expr": f'count(ALERTS{{alertstate="firing",alertname="{alert}"}})',
                "eval_time": "30m",
                "exp_samples": [{"labels": "{}", "value": 1}] if fires else [],
            }
            for alert in alerts
        ],
    }


@pytest.mark.slow
@needs("promtool")
def test_promtool_finds_the_number_of_replicas_and_who_is_late(tmp_path: Path):
    """By the rules and by KEDA's query alike, in each situation that the files speak of; names keep to its rules."""
    tests = [
        scenario("3x120", "5x120", "1x120", 5),
        # no number of members keeps up
        scenario("3x120", "_x120", "0x120", None),
        # more were needed, and no longer help
        scenario("3x120", "5x90 _x30", "1x90 0x30", None),
        # a lull of half an hour
        scenario("5x120", "5x90 3x30", "0x120", 5),
        # fewer have been enough for longer
        scenario("5x120", "5x30 3x90", "0x120", 3),
        late("400x30", "_x30", fires=True),
        late("200x30", "_x30", fires=False),
        # snapshots look back for two minutes, and it is behind for longer
        late("120x30", "120x30", fires=True),
        # it commits less often than that
        late("0x30", "120x30", fires=False),
    ]
    file = tmp_path / "test.yml"
    file.write_text(
        yaml.safe_dump({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": tests})
    )
    metrics = MetricsPage(10, 180)
    metrics.store([everything_known(3)])
    _, text = metrics.text("text/plain", compressed=False)
    linted = subprocess.run(
        [str(PROMTOOL), "check", "metrics"], input=text, capture_output=True, check=False
    )
    assert linted.returncode == 0, linted.stderr
    for arguments in (("check", "rules", "--lint-fatal", RULES), ("test", "rules", file)):
        found = subprocess.run(
            [str(PROMTOOL), *arguments], capture_output=True, text=True, check=False
        )
        assert found.returncode == 0, found.stdout + found.stderr
