"""The benchmark of the rack optimiser: what it measures, and when it complains."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.benchmarks.actives import SIZES, Row, Size, main, rows
from tests.benchmarks.measure import Measured

SMALL = Size(clients=3, tasks=12, racks=3, subtopologies=3, kafka=True, times=1000, most=50)
ROW = Row(
    size=SMALL,
    strategy="min_traffic",
    ours=Measured(milliseconds=2, peak_mib=1),
    cost=7,
    kafka=(4000, 7),
)


class Kafka:
    """Answers every case alike."""

    def ask(self, case, timeout):
        """A time and a cost."""
        return {"milliseconds": 1000.0, "active_cost": 3}


def test_the_points_of_the_issue_are_measured():
    """20 x 500 against Kafka, 1,000 x 10,000 and 1,000 x 100,000 against the clock."""
    asked = {(s.clients, s.tasks): (s.times, s.most) for s in SIZES if s.times or s.most}

    assert asked == {
        (20, 500): (1000, None),
        (1000, 10_000): (None, 500),
        (1000, 100_000): (None, 5000),
    }


def test_both_strategies_are_measured_beside_kafka():
    """Kafka's time and cost stand beside ours where it is asked."""
    found = list(rows([SMALL, replace(SMALL, kafka=False)], Kafka()))

    assert [(row.strategy, row.kafka) for row in found] == [
        ("min_traffic", (1000.0, 3)),
        ("balance_subtopology", (1000.0, 3)),
        ("min_traffic", None),
        ("balance_subtopology", None),
    ]
    assert all(row.cost > 0 and row.ours.milliseconds > 0 for row in found)


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (ROW, None),
        (replace(ROW, kafka=(4000, 8)), "total cost 7 instead of 8"),
        (replace(ROW, kafka=(1000, 7)), "500 times faster instead of 1,000"),
        (
            replace(ROW, kafka=None, ours=Measured(milliseconds=60, peak_mib=1)),
            "60 ms instead of 50",
        ),
        (replace(ROW, kafka=None), None),
    ],
)
def test_a_fault_is_told_in_numbers(row, fault):
    """Another cost, too small a ratio, too long a time."""
    assert row.fault == fault


def test_the_command_prints_a_table(capsys):
    """Run alone it asks no Kafka and prints a line per size and strategy."""
    main(["--alone", "--at-most", "100"])

    told = capsys.readouterr().out
    assert told.count("10 x 100 x 3 x 10") == 2
    assert "evenkeel ms" in told
