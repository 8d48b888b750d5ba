"""The numbers of groups as metrics, read by prometheus-client's own parsers."""

from __future__ import annotations

import gzip
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as plain_text

from evenkeel.engine.adapters.prometheus import MetricsPage, MetricsServer
from evenkeel.engine.model.assignments import AdviceState
from evenkeel.engine.model.errors import InputError
from evenkeel.engine.model.states import WORST_FIRST, Diagnosis
from evenkeel.engine.ports import ServedCluster, ServedGroup

OPENMETRICS = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;q=0.4"
)
TAKEN_AT = datetime(2026, 3, 2, tzinfo=UTC)

BUSY = ServedGroup(
    group_id='orders "eu"\n',
    diagnosis=Diagnosis.UNDER_PROVISIONED,
    lag=0,
    soon_lag=(1.0, 2.0, 3.0),
    drained=(60.0, math.inf, math.inf),
    members=3,
    members_needed=5,
    members_useful=12,
    scaling_helps=True,
    advice=AdviceState.CONFIRMED,
)
UNREAD = ServedGroup(group_id="locked", diagnosis=Diagnosis.UNKNOWN)


def cluster(*groups: ServedGroup, **more: object) -> ServedCluster:
    """A cluster of these groups."""
    known = {"snapshot_seconds": 1.5, "advice_seconds": None, "held": {900.0: (8, 10)}} | more
    return ServedCluster(cluster="prod", taken_at=TAKEN_AT, groups=groups, **known)


def samples(page: MetricsPage, accept: str = OPENMETRICS) -> dict[tuple[str, ...], float]:
    """Name and label values -> number."""
    kind, text = page.text(accept, compressed=False)
    parse = openmetrics if kind.startswith("application/openmetrics-text") else plain_text
    return {
        (sample.name.removeprefix("evenkeel_"), *sample.labels.values()): sample.value
        for family in parse(text.decode())
        for sample in family.samples
    }


def of_group(found: Mapping[tuple[str, ...], float], group: str) -> dict[str, float]:
    """What follows the group's labels -> number, of metrics with one sample for each group."""
    return {key[0]: number for key, number in found.items() if key[1:] == ("prod", group)}


@pytest.fixture
def page() -> MetricsPage:
    """Two groups; of one nothing is known."""
    page = MetricsPage(1000, 180)
    page.store([cluster(BUSY, UNREAD)])
    return page


@pytest.mark.parametrize("accept", [OPENMETRICS, "text/plain", "", "application/x;version=?"])
def test_both_formats_have_the_same_numbers(page, accept):
    """Names and labels with any characters are read back as they were."""
    found = samples(page, accept)
    assert {name.removesuffix("_created") for name, *_ in found} == {name for name, *_ in found}
    assert (
        of_group(found, BUSY.group_id).items()
        >= {
            "group_lag_offsets": 0,
            "group_members": 3,
            "group_members_needed": 5,
            "group_members_useful": 12,
            "group_scaling_helps": 1,
        }.items()
    )
    assert found["group_forecast_lag_offsets", "prod", BUSY.group_id, "15m", "90"] == 3
    assert found["group_caught_up_in_seconds", "prod", BUSY.group_id, "50"] == math.inf
    assert found["snapshot_timestamp_seconds", "prod"] == TAKEN_AT.timestamp()
    assert found["forecast_coverage_ratio", "prod", "15m"] == 0.8


def test_what_is_unknown_has_no_sample(page):
    """Neither of a group nor of a cluster is it 0."""
    found = samples(page)
    assert of_group(found, "locked") == {}
    assert not [key for key in found if key[0].startswith("group_forecast") and "locked" in key]
    assert ("advice_duration_seconds", "prod") not in found
    assert ("forecast_coverage_ratio", "prod", "1h") not in found
    assert ("pipeline_incidents_open", "prod") not in found


def test_promises_are_served_from_a_history_alone():
    """With how many were checked; a share of none is none."""
    page = MetricsPage(1, 1)
    assert not [key for key in samples(page) if key[0].startswith("advice_promises")]
    for promises, expected in (
        ((0.75, 8), {"kept_ratio": 0.75, "checked": 8}),
        ((0.0, 0), {"checked": 0}),
    ):
        page.store([cluster(BUSY, promises=promises)])
        found = {key[0]: number for key, number in samples(page).items() if key[1:] == ("prod",)}
        prefix = "advice_promises_"
        assert {
            name.removeprefix(prefix): number
            for name, number in found.items()
            if name.startswith(prefix)
        } == expected


def test_a_lower_limit_of_a_time_lag_is_another_metric():
    """An alert on the age itself would be wrong."""
    page = MetricsPage(2, 1)
    old = ServedGroup(group_id="old", diagnosis=Diagnosis.UNKNOWN, time_lag_at_least_seconds=7200.0)
    page.store([cluster(old)])
    assert of_group(samples(page), "old") == {"group_time_lag_at_least_seconds": 7200}


def test_a_diagnosis_is_one_of_all_states(page):
    """1 for the one that holds, 0 for the others; so is advice."""
    found = samples(page)
    for group in (BUSY, UNREAD):
        states = {
            key[3]: n
            for key, n in found.items()
            if key[:3] == ("group_diagnosis", "prod", group.group_id)
        }
        assert states == {one.measure: float(one is group.diagnosis) for one in WORST_FIRST}
    assert found["group_advice", "prod", BUSY.group_id, "confirmed"] == 1
    assert found["group_advice", "prod", BUSY.group_id, "pending"] == 0


def test_help_has_the_unit_of_the_name():
    """Every metric is explained in one sentence or two, and none has a unit in its name that the help lacks."""
    page = MetricsPage(1, 1)
    page.store([cluster(BUSY)])
    units = {"offsets": "offsets", "seconds": "econds", "bytes": "ytes", "per_second": "/s"}
    for family in openmetrics(page.text(OPENMETRICS, compressed=False)[1].decode()):
        assert family.name.startswith("evenkeel_")
        assert family.documentation.endswith(".")
        for unit, said in units.items():
            # whatever is a rate says so by its own unit
            parts = family.name.removesuffix("_per_second") if unit == "seconds" else family.name
            told = said in family.documentation or "behind" in family.documentation
            assert told or not parts.endswith(unit), family.name


def test_the_worst_groups_are_kept_and_the_others_counted():
    """The cap is per cluster."""
    page = MetricsPage(1, 180)
    page.store([cluster(BUSY, UNREAD, UNREAD)])
    found = samples(page)
    assert {key[2] for key in found if key[0] == "group_diagnosis"} == {BUSY.group_id}
    assert (found["groups", "prod"], found["groups_left_out", "prod"]) == (3, 2)


def test_a_failure_keeps_the_values_and_is_counted(page):
    """So does a second one; the next success does not forget them."""
    before = samples(page)
    assert (before["snapshot_errors_total",], before["snapshot_success",]) == (0, 1)
    page.failed()
    page.failed()
    after = samples(page)
    assert (after["snapshot_errors_total",], after["snapshot_success",]) == (2, 0)
    assert of_group(after, BUSY.group_id) == of_group(before, BUSY.group_id)
    page.store([cluster(UNREAD)])
    assert samples(page)["snapshot_errors_total",] == 2


def test_old_values_of_groups_are_no_longer_served(page):
    """An autoscaler would follow them; what is left says how old they are."""
    new = samples(page)
    page.fresh_seconds = -1
    old = samples(page)
    assert of_group(new, BUSY.group_id)
    assert not of_group(old, BUSY.group_id)
    assert old["groups_left_out", "prod"] == 2
    same = ("snapshot_timestamp_seconds", "prod")
    assert old[same] == new[same]


@pytest.mark.slow
def test_the_server_answers_metrics_health_and_nothing_else(page):
    """Compressed where the client takes it; old values are not healthy."""
    with MetricsServer(page, "127.0.0.1", 0) as server:
        asked = Request(
            f"http://{server.address}/metrics?x=1",
            headers={"Accept": OPENMETRICS, "Accept-Encoding": "gzip"},
        )
        refused = Request(asked.full_url, headers={"Accept-Encoding": "gzip;q=0, *"})
        with urlopen(refused) as answer:
            assert "Content-Encoding" not in answer.headers
        with urlopen(asked) as answer:
            assert answer.headers["Content-Type"].startswith("application/openmetrics-text")
            text = gzip.decompress(answer.read()).decode()
        assert text.endswith("# EOF\n")
        assert text.encode() == page.text(OPENMETRICS, compressed=False)[1]
        health = f"http://{server.address}/healthz"
        for method, text in (("GET", b"ok\n"), ("HEAD", b"")):
            with urlopen(Request(health, method=method)) as answer:
                assert (answer.headers["Content-Length"], answer.read()) == ("3", text)
        page.fresh_seconds = -1
        for path, status in (("healthz", 503), ("", 404)):
            with pytest.raises(HTTPError) as refused:
                urlopen(f"http://{server.address}/{path}")
            assert refused.value.code == status


@pytest.mark.slow
def test_a_port_that_is_taken_is_an_error_with_its_fix(page):
    """Of the option that named it."""
    with MetricsServer(page, "127.0.0.1", 0) as server:
        host, port = server.address.split(":")
        with pytest.raises(InputError, match=r"--listen.*Name another port"):
            MetricsServer(page, host, int(port))
