"""`evenkeel explain`: why one partition goes to one member, in numbered steps."""

from __future__ import annotations

import pytest

from tests.unit.cli.conftest import RECORDED, objects

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("group", "partition", "strategy", "told"),
    [
        (
            "balanced",
            "invoices-2",
            "range",
            ["under range: balanced-2 (it has it now)", "  2. balanced-2 is the first"],
        ),
        (
            "streams-classic",
            "invoices-3",
            "none",
            ["  1. task 0_3 reads it", "  2. tasks are assigned"],
        ),
        (
            "streams-kip1071",
            "clicks-1",
            "sticky-tasks-server",
            ["streams-kip1071-1 runs the task and keeps it"],
        ),
    ],
)
def test_a_partition_is_explained(run, group, partition, strategy, told):
    """Who gets it, who has it now, and the steps of consumers and of tasks, by short names."""
    shown = run(
        "explain", partition, "--group", group, "--strategy", strategy, "--from", RECORDED
    ).stdout
    assert all(part in shown for part in told), shown


def test_as_json_the_owner_has_its_id(run):
    """And the steps are a list."""
    ask = (
        "explain",
        "invoices-2",
        "--group",
        "balanced",
        "--strategy",
        "fair",
        "--from",
        RECORDED,
        "--json",
    )
    [found] = objects(run(*ask))
    assert found["owner"] != found["owner_now"]
    assert len(found["steps"]) == 2
