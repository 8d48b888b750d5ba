"""
Metrics for Prometheus: the numbers of groups as OpenMetrics and Prometheus text, over HTTP.

`families` (what each metric is), `page` (the newest values as text), `server` (who answers), `otlp` (the same, pushed).
"""

from .otlp import MetricsPush
from .page import MetricsPage
from .server import MetricsServer

__all__ = ["MetricsPage", "MetricsPush", "MetricsServer"]
