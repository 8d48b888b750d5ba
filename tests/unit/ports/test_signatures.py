"""What implements a port can be called as the port says."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from evenkeel.engine.adapters.channels import ChannelNotifier
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.log import LogNotifier
from evenkeel.engine.adapters.postgres import PostgresHistory, PostgresReports
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.adapters.slack import SlackNotifier, SlackWebhook
from evenkeel.engine.adapters.webhook import WebhookNotifier
from evenkeel.engine.cli.configured_racks import RackedLake
from evenkeel.engine.ports import Cluster, History, Lake, Notifier, ReportHistory
from evenkeel.engine.snapshots.walk_lake import WalkedLake
from tests.helpers.memory import MemoryCluster, MemoryHistory, MemoryNotifier


def methods(port: type) -> dict[str, list[tuple[str, Any, Any]]]:
    """The public methods of a class, each with the name, kind and default of its parameters."""
    return {
        name: [(p.name, p.kind, p.default) for p in inspect.signature(method).parameters.values()]
        for name, method in inspect.getmembers(port, inspect.isfunction)
        if not name.startswith("_")
    }


@pytest.mark.parametrize(
    ("port", "implementation"),
    [
        (History, PostgresHistory),
        (History, MemoryHistory),
        (ReportHistory, MemoryHistory),
        (ReportHistory, PostgresReports),
        (Cluster, MemoryCluster),
        (Lake, FileLake),
        (Lake, Recording),
        (Lake, RackedLake),
        (Lake, WalkedLake),
        (Notifier, SlackNotifier),
        (Notifier, SlackWebhook),
        (Notifier, WebhookNotifier),
        (Notifier, ChannelNotifier),
        (Notifier, LogNotifier),
        (Notifier, MemoryNotifier),
    ],
)
def test_every_method_of_a_port_is_there_with_its_parameters(
    port: type, implementation: type
) -> None:
    """The fakes are not checked by mypy, and a caller who names a parameter must find it in all of them."""
    promised, found = methods(port), methods(implementation)
    assert promised
    assert {name: found.get(name) for name in promised} == promised


def test_the_history_has_no_method_that_no_port_names() -> None:
    """What is asked of Postgres stands in a port, where its fake must answer it, too."""
    assert methods(PostgresHistory).keys() == methods(History).keys()
