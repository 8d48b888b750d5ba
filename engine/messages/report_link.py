"""Which page of the report shows what a message is about."""

from __future__ import annotations

from dataclasses import replace

from ..config import Settings
from ..incidents.policy import EVERY_CLUSTER
from ..model.message import AlertMessage
from ..model.text import report_place

LONGEST = 1_000
"""Characters of an address that chats take for one."""


def with_report(message: AlertMessage, cluster: str, settings: Settings) -> AlertMessage:
    """
    A message that says where its page is, as far as the configuration says where pages are.

    That is the page of the group that it is about, else that of its cluster.

    Args:
        message: What is said.
        cluster: Under which cluster it was queued; it may be every one.
        settings: The configuration.
    """
    if settings.report_url is None:
        return message
    home = f"{settings.report_url.rstrip('/')}/"
    of_cluster = None if cluster == EVERY_CLUSTER else cluster
    address = home + report_place(of_cluster, _group_of(message))
    if len(address) > LONGEST:
        address = home + report_place(of_cluster)
    return replace(message, report=address)


def _group_of(message: AlertMessage) -> str | None:
    """The one group that a message is about; None where it is about several, or about none."""
    if message.subject is not None:
        return message.subject.group_id
    groups = {told.group_id for told in message.announcements}
    return groups.pop() if len(groups) == 1 else None
