"""Slack: a message as blocks (`blocks`), and how it gets there once (`notifier`)."""

from evenkeel.engine.adapters.slack.notifier import SlackNotifier

__all__ = ["SlackNotifier"]
