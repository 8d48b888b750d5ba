"""
Programs called over HTTP: those that page people (`notifier`, in the formats `alertmanager` and `pagerduty`), and the
one that misses us when we are silent (`heartbeat`). `calling` is how, `check` what `evenkeel doctor` asks of them.
"""

from .heartbeat import Heartbeat
from .notifier import WebhookNotifier

__all__ = ["Heartbeat", "WebhookNotifier"]
