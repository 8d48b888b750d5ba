"""
Channels: where a message goes.

A channel is one of Slack, or `webhook:NAME`: a program that pages people.
"""

from __future__ import annotations

from ..config import Settings
from ..model.message import Severity

PAGERS = "webhook:"
"""What the channels of programs begin with; what follows is a name of the configuration."""


def pager_of(channel: str) -> str | None:
    """
    The webhook that a channel stands for, by its name; None for a channel of people.

    >>> pager_of("webhook:oncall"), pager_of("#kafka")
    ('oncall', None)
    """
    return channel.removeprefix(PAGERS) if channel.startswith(PAGERS) else None


def channel_of(settings: Settings, cluster: str, group: str | None) -> str:
    """Where a group is spoken of, or a whole cluster (*group* None): as a rule says, or in the default channel."""
    return settings.rule(cluster, "*" if group is None else group).channel or settings.slack_channel


def is_named(settings: Settings, channel: str) -> bool:
    """Whether the configuration still speaks of a channel."""
    channels = {settings.slack_channel, *(rule.channel for rule in settings.rules)}
    return channel in channels or pager_of(channel) in settings.webhooks


def is_gone(settings: Settings, channel: str) -> bool:
    """Whether a channel is that of a webhook that is not configured any more: what waits for it pages nobody."""
    return pager_of(channel) is not None and not is_named(settings, channel)


def receivers_of(
    settings: Settings, cluster: str, group: str | None, severity: Severity
) -> list[str]:
    """
    The channels that hear of an incident: the one where its group is spoken of, then those of the webhooks that take
    it.

    Args:
        settings: The configuration.
        cluster: Configured name of the cluster.
        group: The group; None where the whole cluster is concerned.
        severity: How bad the incident is while it is open; never *resolved*.
    """
    critical = severity is Severity.CRITICAL
    return [
        channel_of(settings, cluster, group),
        *(
            f"{PAGERS}{name}"
            for name, webhook in settings.webhooks.items()
            if webhook.takes(cluster, group, critical=critical)
        ),
    ]
