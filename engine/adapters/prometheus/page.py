"""The newest values as text; made once for each format, however often it is asked for."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, choose_encoder, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector, CollectorRegistry

from ...ports import ServedCluster
from .families import of_clusters, of_process

OPENMETRICS = openmetrics.CONTENT_TYPE_LATEST
TEXT = CONTENT_TYPE_PLAIN_0_0_4
ENCODERS: Mapping[str, Callable[[CollectorRegistry], bytes]] = {
    OPENMETRICS: openmetrics.generate_latest,
    TEXT: generate_latest,
}
"""The formats, by content type."""


class MetricsPage(Collector):
    """
    The newest values.

    Args:
        most: Maximum number of groups of a cluster; the worst come first.
        fresh_seconds: Values are old after so many seconds.
    """

    def __init__(self, most: int, fresh_seconds: float) -> None:
        self.most, self.fresh_seconds = most, fresh_seconds
        self._clusters: Sequence[ServedCluster] = ()
        self._errors = 0
        self._succeeded: bool | None = None
        self._stored_at: float | None = None
        self._made_old = False
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)
        self._lock = threading.Lock()
        # as Prometheus asks for it; other forms are made from the first time that they are asked for
        usual = (OPENMETRICS, True)
        self._pages = {usual: self._made(*usual)}

    def store(self, clusters: Sequence[ServedCluster]) -> None:
        """Show these values from now on."""
        with self._lock:
            self._clusters, self._succeeded = clusters, True
            self._stored_at = time.monotonic()
            self._make_again()

    def failed(self) -> None:
        """Count a failure; the values stay."""
        with self._lock:
            self._errors += 1
            self._succeeded = False
            self._make_again()

    @property
    def is_fresh(self) -> bool | None:
        """Whether the values are new; None before there are any."""
        if self._stored_at is None:
            return None
        return time.monotonic() - self._stored_at <= self.fresh_seconds

    def text(self, accept: str, *, compressed: bool) -> tuple[str, bytes]:
        """
        The content type and the text.

        Args:
            accept: The formats that the client accepts, as in HTTP; without a known one it is Prometheus text.
            compressed: Whether the text is compressed by gzip.
        """
        try:
            is_text = choose_encoder(accept)[1].startswith("text/")
        except ValueError:
            is_text = True
        form = (TEXT if is_text else OPENMETRICS, compressed)
        if form not in self._pages or self._has_aged:
            with self._lock:
                if self._has_aged:
                    self._make_again()
                if form not in self._pages:
                    self._pages[form] = self._made(*form)
        return form[0], self._pages[form]

    def collect(self) -> Iterator[Metric]:
        """All metrics; of old values only those of clusters, so that nobody acts on those of groups."""
        self._made_old = self.is_fresh is False
        yield from of_clusters(self._clusters, 0 if self._made_old else self.most)
        yield from of_process(self._errors, self._succeeded)

    @property
    def _has_aged(self) -> bool:
        """Whether the values became old since the texts were made."""
        return self.is_fresh is False and not self._made_old

    def _make_again(self) -> None:
        self._pages = {form: self._made(*form) for form in self._pages}

    def _made(self, content_type: str, compressed: bool) -> bytes:
        text = ENCODERS[content_type](self._registry)
        return gzip.compress(text, compresslevel=1) if compressed else text
