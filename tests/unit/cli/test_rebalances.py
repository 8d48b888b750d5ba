"""What `evenkeel rebalances` prints."""

from __future__ import annotations

import pytest

from evenkeel.engine.cli.views.rebalances import show_bill

ROW = {
    "cluster": "prod",
    "group_id": "orders-app",
    "setting": "static membership",
    "partition_seconds": 800.0,
    "with_setting": 200.0,
    "delayed_records": 52_000.0,
    "rebalances": 14,
    "partitions_moved": 120,
    "causes": {"crash loop": 6, "deploy": 8},
    "pause_bases": ["observed"],
}


def test_a_group_is_its_causes_its_cost_and_what_reduces_it(capsys):
    """A setting that saves little is left out."""
    little = {**ROW, "setting": "cooperative rebalancing", "with_setting": 790.0}

    show_bill([ROW, little])

    first, cost, setting = capsys.readouterr().out.splitlines()
    assert first == "orders-app (prod): 14 rebalances (deploy 8, crash loop 6)"
    assert cost.split(", ") == [
        "  800 partition-seconds paused",
        "52k records delayed",
        "120 partitions reassigned",
    ]
    assert setting.startswith("  static membership: -75%. To get it, set group.instance.id")


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        (
            "longer session timeout",
            "raise session.timeout.ms (max.poll.interval.ms for slow polls)",
        ),
        (
            "longer session timeout on brokers",
            "raise consumer.session.timeout.ms of the group (kafka-configs.sh --entity-type groups)",
        ),
    ],
)
def test_a_longer_session_is_set_where_the_protocol_has_it(capsys, setting, named):
    """On members, or on brokers for KIP-848."""
    show_bill([{**ROW, "setting": setting}])

    assert f"{setting}: -75%. To get it, {named}" in capsys.readouterr().out


def test_what_is_unknown_is_said_so(capsys):
    """Not 0."""
    show_bill(
        [
            {
                **ROW,
                "setting": None,
                "with_setting": None,
                "delayed_records": None,
                "partitions_moved": None,
            }
        ]
    )

    printed = capsys.readouterr().out
    assert "unknown number of records delayed" in printed
    assert "estimated" not in printed


def test_an_estimated_pause_is_said_so(capsys):
    """It decides the cost."""
    show_bill([{**ROW, "pause_bases": ["observed", "usual"]}])

    assert "estimated from heartbeats" in capsys.readouterr().out
