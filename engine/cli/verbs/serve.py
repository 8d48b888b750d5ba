"""`evenkeel serve`: the numbers of groups as metrics for Prometheus, again and again."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from ...model.errors import InputError
from ..command_end import complain, explain
from ..options import Bootstrap, ClusterName, Group, epilog, option

if TYPE_CHECKING:
    from ...adapters.prometheus import MetricsPage, MetricsPush
    from ...report.live_fleet import LiveFleet
    from ...report.served import ServedHistory

    Source = LiveFleet | ServedHistory

EPILOG = epilog(
    [
        "evenkeel serve --bootstrap broker1:9092",
        "evenkeel serve --cluster prod --listen 0.0.0.0:9309 --max-groups 10000",
        "evenkeel serve --from history                  # what the pipeline stored",
        "curl -s http://127.0.0.1:9309/metrics | grep evenkeel_group_lag_offsets",
    ],
    [0, 2],
    "Answers /metrics (OpenMetrics and Prometheus text) and /healthz. What is unknown has no sample. Rates, diagnoses "
    "and forecasts need several snapshots. evenkeel keeps them in memory; a restart begins without any.",
    "If a snapshot fails, the last values stay and evenkeel_snapshot_errors_total counts it. /healthz answers 503 "
    "before the first snapshot, and after three intervals without one. SIGTERM and SIGINT end it.",
)

OLD = 3
"""Values are old after so many intervals."""

HISTORY = "history"


def serve(
    bootstrap: Bootstrap = None,
    cluster: ClusterName = None,
    stored: Annotated[
        str | None,
        option(
            "--from history", "Serve stored results of the history database, not a live cluster."
        ),
    ] = None,
    group: Group = "*",
    every: Annotated[
        float, option("--every SECONDS", "Seconds from one snapshot to the next.", min=5)
    ] = 60,
    listen: Annotated[
        str, option("--listen HOST:PORT", "Address to listen on; port 0 is any free one.")
    ] = "127.0.0.1:9309",
    max_groups: Annotated[
        int,
        option("--max-groups N", "Maximum number of groups per cluster, the worst first.", min=0),
    ] = 1000,
    otlp: Annotated[
        str | None,
        option(
            "--otlp URL",
            "Also push to this OpenTelemetry collector (OTLP over HTTP), path included. It needs the extra otlp.",
        ),
    ] = None,
) -> None:
    """Serve lag, diagnoses and forecasts as Prometheus metrics."""
    from ...adapters.prometheus import MetricsPage, MetricsPush, MetricsServer

    host, port = _address(listen)
    source = (
        _stored(stored, bootstrap, cluster, group) if stored else _live(bootstrap, cluster, group)
    )
    page = MetricsPage(max_groups, OLD * every)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        push = None if otlp is None else MetricsPush(page, otlp)
        with MetricsServer(page, host, port) as server:
            complain(f"serving http://{server.address}/metrics, a snapshot every {every:g} s")
            keep(source, page, every, push)
    except KeyboardInterrupt:
        complain("stopped")
    finally:
        source.close()
        signal.signal(signal.SIGTERM, before)


def keep(source: Source, page: MetricsPage, every: float, push: MetricsPush | None) -> None:
    """Look again and again; a look that fails leaves the values as they are."""
    from ..sources import SHORTEST

    def attempt(act: Callable[[], object]) -> bool:
        try:
            act()
        except Exception as problem:  # noqa: BLE001 the next time may succeed
            for line in explain(problem):
                complain(line)
            return False
        return True

    while True:
        began = time.monotonic()
        if attempt(lambda: page.store(source.look())):
            # a large cluster may take longer than is asked; it is as fresh as it can be
            page.fresh_seconds = OLD * max(every, time.monotonic() - began)
        else:
            page.failed()
        if push is not None:
            attempt(push.send)
        time.sleep(max(every - (time.monotonic() - began), SHORTEST))


def _address(listen: str) -> tuple[str, int]:
    host, _, port = listen.rpartition(":")
    if not host or not port.isdecimal():
        raise InputError(f"--listen: {listen!r} is no address.", fix="Give HOST:PORT.")
    return host.strip("[]"), int(port)


def _live(bootstrap: str | None, cluster: str | None, group: str) -> LiveFleet:
    from ... import wiring
    from ...report.live_fleet import LiveFleet
    from .. import demo, sources

    settings = demo.settings() if bootstrap is None else wiring.settings()
    settings, name = sources.live(settings, bootstrap, cluster)
    reader = wiring.cluster(settings, name)
    return LiveFleet(reader, wiring.scratch(), wiring.scratch_history(), settings, name, group)


def _stored(stored: str, bootstrap: str | None, cluster: str | None, group: str) -> ServedHistory:
    from ... import wiring
    from ...report.served import ServedHistory
    from ..database import database

    if stored != HISTORY or bootstrap is not None:
        raise InputError(
            f"--from takes {HISTORY!r}, without --bootstrap.",
            fix="Leave --from out to serve a live cluster.",
        )
    settings, where = database()
    complain(f"database: {where}")
    return ServedHistory(wiring.report_history(settings), cluster, group)
