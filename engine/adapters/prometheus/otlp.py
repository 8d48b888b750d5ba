"""The same metrics, pushed to a collector by OTLP over HTTP."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from prometheus_client.metrics_core import Metric

from ...model.errors import EvenkeelError, InputError
from .page import MetricsPage

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Observation

UNITS = {
    "_offsets_per_second": "{offset}/s",
    "_bytes_per_second": "By/s",
    "_seconds": "s",
    "_ratio": "1",
    "_offsets": "{offset}",
}
"""Units in UCUM, as OpenTelemetry has them, by the ends of names; the longest come first."""


class MetricsPush:
    """
    A collector that is told the newest values.

    Args:
        page: The values.
        url: Where it takes metrics, for example http://127.0.0.1:4318/v1/metrics.

    Raises:
        InputError: The URL is none.
        ModuleNotFoundError: The extra `otlp` is not installed.
    """

    def __init__(self, page: MetricsPage, url: str) -> None:
        where = urlsplit(url)
        if where.scheme not in ("http", "https") or not where.hostname:
            raise InputError(
                "--otlp takes a URL.", fix="Give for example http://127.0.0.1:4318/v1/metrics."
            )
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.metrics import Observation
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import InMemoryMetricReader
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource

        # a URL may hold a secret, and the library logs it
        host = where.netloc.rpartition("@")[2]
        self._page, self._shown = page, f"{where.scheme}://{host}{where.path}"
        logging.getLogger("opentelemetry.exporter.otlp").setLevel(logging.CRITICAL)
        self._families: dict[str, Metric] = {one.name: one for one in page.collect()}
        self._exporter = OTLPMetricExporter(endpoint=url, timeout=10)
        self._reader = InMemoryMetricReader()
        resource = Resource.create({SERVICE_NAME: "evenkeel"})
        meter = MeterProvider([self._reader], resource).get_meter("evenkeel")

        def of(name: str) -> Callable[[CallbackOptions], Iterator[Observation]]:
            def samples(_: CallbackOptions) -> Iterator[Observation]:
                for sample in self._families[name].samples:
                    yield Observation(sample.value, sample.labels)

            return samples

        for name, family in self._families.items():
            is_counter = family.type == "counter"
            create = (
                meter.create_observable_counter if is_counter else meter.create_observable_gauge
            )
            unit = next((unit for end, unit in UNITS.items() if name.endswith(end)), "")
            create(name, [of(name)], unit, family.documentation)

    def send(self) -> None:
        """
        Send the newest values.

        Raises:
            EvenkeelError: The collector did not take them.
        """
        from opentelemetry.sdk.metrics.export import MetricExportResult

        self._families = {one.name: one for one in self._page.collect()}
        data = self._reader.get_metrics_data()
        if data and self._exporter.export(data) is not MetricExportResult.SUCCESS:
            raise EvenkeelError(
                f"{self._shown} did not take the metrics.", fix="Check --otlp and the collector."
            )
