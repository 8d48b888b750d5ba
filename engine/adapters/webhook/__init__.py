"""
HTTP receivers: webhooks (`notifier`, in the formats `alertmanager` and `pagerduty`), and the `heartbeat`. `http_call`
sends the requests, and `check` is for `evenkeel doctor`.
"""

from .heartbeat import Heartbeat
from .notifier import WebhookNotifier

__all__ = ["Heartbeat", "WebhookNotifier"]
