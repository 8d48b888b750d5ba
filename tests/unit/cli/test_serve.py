"""`evenkeel serve` on a cluster that replays snapshots; no time passes between two."""

from __future__ import annotations

import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from urllib.request import urlopen

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from prometheus_client.parser import text_string_to_metric_families

from evenkeel.engine import wiring
from evenkeel.engine.adapters.recording import RecordedCluster, open_recording
from evenkeel.engine.cli.verbs import serve
from tests.unit.cli.conftest import RECORDED, objects

pytestmark = pytest.mark.slow  # it listens

LISTEN = ("--listen", "127.0.0.1:0")


@pytest.fixture
def scraped(monkeypatch, capfd) -> Callable[[int], list[dict[tuple[str, ...], float]]]:
    """What a scrape finds after each look; after so many the process is told to end."""
    pages: list[dict[tuple[str, ...], float]] = []
    slept: list[float] = []

    def of(looks: int) -> list[dict[tuple[str, ...], float]]:
        address = []

        def sleep(seconds: float) -> None:
            slept.append(seconds)
            with urlopen(address[0]) as answer:
                text = answer.read().decode()
            pages.append(
                {
                    (one.name.removeprefix("evenkeel_"), *one.labels.values()): one.value
                    for family in text_string_to_metric_families(text)
                    for one in family.samples
                }
            )
            if len(pages) == looks:
                signal.raise_signal(signal.SIGTERM)

        said = serve.complain

        def complain(line: str) -> None:
            address.extend(re.findall(r"http://\S+/metrics", line))
            said(line)

        its_clock = SimpleNamespace(monotonic=time.monotonic, sleep=sleep)
        monkeypatch.setattr(serve, "time", its_clock)
        monkeypatch.setattr(serve, "complain", complain)
        return pages

    return of


def test_each_snapshot_is_served_and_sigterm_ends_it(run, kafka, scraped):
    """Rates are known from the second one on; the connection is closed; whoever had the signal has it again."""
    pages, before = scraped(3), signal.getsignal(signal.SIGTERM)
    result = run("serve", "--bootstrap", "k:9092", "--cluster", "prod", *LISTEN)
    assert result.exit_code == 0, result.output
    assert "stopped" in result.stderr
    rates = [page.get(("group_incoming_offsets_per_second", "prod", "uneven")) for page in pages]
    assert rates[0] is None
    assert rates[1] == pytest.approx(120)
    assert [page["snapshot_success",] for page in pages] == [1, 1, 1]
    assert kafka["cluster"].closed
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_snapshot_that_fails_leaves_the_last_values(run, kafka, scraped):
    """The recording has four: the fifth and the sixth fail, and say so."""
    pages = scraped(6)
    result = run("serve", "--bootstrap", "k:9092", "--cluster", "prod", *LISTEN)
    assert "the recording is at its end" in result.stderr
    assert [page["snapshot_errors_total",] for page in pages] == [0, 0, 0, 0, 1, 2]
    same = ("group_lag_offsets", "prod", "uneven")
    assert pages[5][same] == pages[3][same] > 0


def test_groups_are_chosen_and_capped(run, kafka, scraped):
    """The worst stays."""
    pages = scraped(2)
    run(
        "serve",
        "--bootstrap",
        "k:9092",
        "--cluster",
        "prod",
        "--group",
        "*e*",
        "--max-groups",
        "1",
        *LISTEN,
    )
    assert {key[2] for key in pages[1] if key[0] == "group_diagnosis"} == {"empty"}
    assert (pages[1]["groups", "prod"], pages[1]["groups_left_out", "prod"]) == (6, 5)


def test_the_numbers_are_those_of_advise(run, told, scraped, monkeypatch):
    """On the recording of a real cluster, whose groups are each of another kind."""
    lake = open_recording(RECORDED)
    ids = lake.snapshots("demo", limit=99)[::-1]
    moments = iter(one[-23:-7] for one in ids)
    monkeypatch.setattr(wiring, "cluster", lambda *_: RecordedCluster(lake, ids))
    monkeypatch.setattr(
        "evenkeel.engine.pipeline.snapshot.new_snapshot_id",
        lambda name, _: f"{name}-{next(moments)}-abcdef",
    )
    pages = scraped(len(ids))
    result = run("serve", "--bootstrap", "k:9092", "--cluster", "demo", *LISTEN)
    assert result.exit_code == 0, result.output
    page = pages[-1]
    for group in objects(told("advise", "--from", RECORDED, "--json")):
        name = group["group"]
        of_group = {key[0]: number for key, number in page.items() if key[1:] == ("demo", name)}
        same = {
            "group_lag_offsets": group["total_lag"],
            "group_behind_seconds": group["delay_seconds"],
            "group_incoming_offsets_per_second": group["production_per_second"],
            "group_cross_rack_bytes_per_second": group["cross_rack_bytes_per_second"],
        }
        for metric, number in same.items():
            assert of_group.get(metric) == pytest.approx(number), (name, metric)
        [diagnosis] = [
            key[3]
            for key, number in page.items()
            if key[:3] == ("group_diagnosis", "demo", name) and number
        ]
        assert diagnosis.replace("_", " ") == group["diagnosis"].replace("-", " ")
    # range deals three topics of four partitions to four members at most; no number of them keeps up
    assert page["group_members_useful", "demo", "skewed-load"] == 4
    assert page["group_scaling_helps", "demo", "skewed-load"] == 0
    assert page["group_advice", "demo", "skewed-load", "pending"] == 1
    # who is idle is not needed
    assert page["group_members_needed", "demo", "idle-members"] == 3
    forecast = "group_forecast_lag_offsets", "demo", "skewed-load", "1h"
    assert page[*forecast, "10"] < page[*forecast, "50"] < page[*forecast, "90"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--from", "lake"), "--from takes 'history'"),
        (("--from", "history", "--bootstrap", "k:9092"), "without --bootstrap"),
        (("--from", "history"), "no history database is configured"),
        (("--bootstrap", "k:9092", "--listen", "9309"), "no address"),
        (("--bootstrap", "k:9092", "--otlp", "foo"), "--otlp takes a URL"),
        ((), "no cluster is given"),
    ],
)
def test_what_cannot_be_served_is_refused_at_once(run, given, said):
    """Before anything listens."""
    result = run("serve", *given)
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.fixture
def collector():
    """A server that takes what is pushed; the requests so far, and the status that it answers."""
    taken, status = list[ExportMetricsServiceRequest](), [200]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            taken.append(ExportMetricsServiceRequest.FromString(body))
            self.send_response(status[0])
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield SimpleNamespace(
            url=f"http://127.0.0.1:{server.server_port}", taken=taken, status=status
        )
        server.shutdown()


def test_the_same_numbers_are_pushed(run, kafka, scraped, collector):
    """With units; each time all of them, whether or not the snapshot succeeded."""
    pages = scraped(5)
    options = ("--bootstrap", "k:9092", "--cluster", "prod", "--otlp", collector.url)
    assert run("serve", *options, *LISTEN).exit_code == 0
    assert len(collector.taken) == 5
    for page, request in zip(pages, collector.taken, strict=True):
        [of_resource] = request.resource_metrics
        [of_scope] = of_resource.scope_metrics
        metrics = {one.name: one for one in of_scope.metrics}
        lag = metrics["evenkeel_group_lag_offsets"]
        assert lag.unit == "{offset}"
        found = {
            point.attributes[1].value.string_value: point.as_double
            for point in lag.gauge.data_points
        }
        assert found == {key[2]: n for key, n in page.items() if key[0] == "group_lag_offsets"}
        [errors] = metrics["evenkeel_snapshot_errors"].sum.data_points
        assert errors.as_int == page["snapshot_errors_total",]


def test_a_collector_that_refuses_is_named(run, kafka, scraped, collector):
    """Without a secret in its URL; nothing else stops for it."""
    collector.status[0] = 400
    pages = scraped(1)
    url = f"{collector.url.replace('//', '//me:s3cret@')}/v1/metrics?token=t0ken"
    options = ("--bootstrap", "k:9092", "--cluster", "prod", "--otlp", url)
    result = run("serve", *options, *LISTEN)
    assert f"{collector.url}/v1/metrics did not take the metrics" in result.stderr
    assert "s3cret" not in result.output
    assert "t0ken" not in result.output
    assert pages[0]["snapshot_success",] == 1


def test_without_opentelemetry_the_install_command_is_named(run, kafka, monkeypatch):
    """In one line, before anything listens."""
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.metrics", None)
    result = run("serve", "--bootstrap", "k:9092", "--otlp", "http://localhost:4318/v1/metrics")
    assert result.exit_code == 2
    assert "pip install 'evenkeel[otlp]'" in result.stderr
