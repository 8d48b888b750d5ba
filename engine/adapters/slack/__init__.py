"""Slack: a message as blocks (`blocks`), how it gets there once (`notifier`), and without a bot (`incoming`)."""

from .incoming_webhook import SlackWebhook
from .notifier import SlackNotifier

__all__ = ["SlackNotifier", "SlackWebhook"]
