"""Slack: a message as blocks (`blocks`), how it gets there once (`notifier`), and without a bot (`incoming`)."""

from evenkeel.engine.adapters.slack.incoming import SlackWebhook
from evenkeel.engine.adapters.slack.notifier import SlackNotifier

__all__ = ["SlackNotifier", "SlackWebhook"]
