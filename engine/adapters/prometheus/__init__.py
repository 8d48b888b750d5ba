"""
Metrics for Prometheus: the numbers of groups as OpenMetrics and Prometheus text, over HTTP.

`families` (what each metric is), `page` (the newest values as text), `server` (who answers).
"""

from .page import MetricsPage
from .server import MetricsServer

__all__ = ["MetricsPage", "MetricsServer"]
